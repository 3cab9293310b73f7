import { describe, expect, test } from 'vitest';
import { registry } from '../../src/commands/index.ts';
import { defaultConfigFile } from '../../src/config/file.ts';
import { digestFeature } from '../../src/jobs/digest/feature.ts';
import { limitsInUse } from '../../src/jobs/features.ts';
import { TASKS } from '../../src/jobs/help-view.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { aProject } from '../support/commands/builders.ts';

test('every command has its line in the help, in the order of the commands', () => {
  expect(TASKS.map(({ command }) => command)).toEqual(registry.commands.map(({ name }) => name));
});

describe('analytics requests of the past hour', () => {
  test('of one organization are counted together, whatever the keys', async () => {
    const shared = { organization: 'acme', projectId: 'prj' };
    const projects = [
      aProject({ ...shared, name: 'acme', apiKey: 'adm_1' }),
      aProject({ ...shared, name: 'beta', apiKey: 'adm_2' }),
    ];
    const asked: string[] = [];
    const context = { projects, limits: defaultConfigFile.limits, timing: defaultTiming };
    const usageOf = async ({ name }: { name: string }) => {
      asked.push(name);
      return { used: 12, free: 88, waiting: 0, nextMs: 0 };
    };
    expect(await limitsInUse(digestFeature, 'T0ACME', context, usageOf)).toMatchObject([
      { text: 'analytics requests: 12 of 100 used in the past hour' },
    ]);
    expect(asked).toEqual(['analytics:organization:acme']);
  });
});
