import { describe, expect, test } from 'vitest';
import { registry } from '../../src/commands/index.ts';
import { defaultConfigFile } from '../../src/config/file.ts';
import type { FeatureContext } from '../../src/jobs/feature.ts';
import { features, limitsInUse } from '../../src/jobs/features.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { aProject } from '../support/commands/builders.ts';

const aContext = (changes: Partial<FeatureContext> = {}): FeatureContext => ({
  runs: { activeOf: async () => [], latestOf: async () => ({ runs: [], complete: true }) },
  threads: { followed: async () => [], followedIndex: async () => [] },
  outbox: { deliveryState: async () => ({ kind: 'waiting' }) },
  isPublic: async () => true,
  workspaceUrl: () => 'https://acme.example/',
  projects: [aProject({ name: 'acme', projectId: 'prj_1' })],
  limits: { ...defaultConfigFile.limits, followUpsPerHour: 1000 },
  timing: { ...defaultTiming, editsPerMinute: 44 },
  rateLimiter: { usage: async () => undefined },
  ...changes,
});

test('every command has its line in the help, in the order of the commands', () => {
  expect(features.flatMap(({ command }) => command ?? [])).toEqual(registry.commands.map(({ name }) => name));
});

const limits = (changes: Partial<FeatureContext>) =>
  limitsInUse('T0ACME', aContext(changes)).then((all) => all.flatMap(({ text }) => text ?? []));

describe('analytics requests of the past hour', () => {
  test('of one organization are counted together, whatever the keys', async () => {
    const shared = { organization: 'acme', projectId: 'prj' };
    const projects = [
      aProject({ ...shared, name: 'acme', apiKey: 'adm_1' }),
      aProject({ ...shared, name: 'beta', apiKey: 'adm_2' }),
    ];
    const asked: string[] = [];
    const usage = async ({ name }: { name: string }) => {
      asked.push(name);
      return { used: 12, free: 88, waiting: 0, nextMs: 0 };
    };
    expect((await limits({ projects, rateLimiter: { usage } })).at(-1)).toBe(
      'analytics requests: 12 of 100 used in the past hour',
    );
    expect(asked.filter((name) => name.startsWith('analytics:'))).toEqual(['analytics:organization:acme']);
  });
});
