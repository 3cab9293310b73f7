import { describe, expect, test } from 'vitest';
import { agentCommand } from '../../../src/commands/agent/command.ts';
import { aCaller, aProject } from '../../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld, onFreshWorlds } from '../../support/commands/world.ts';

const acme = aProject({ name: 'acme', projectId: 'prj_1' });
const beta = aProject({ name: 'beta', projectId: 'prj_2', channels: ['C0BETA'] });

let world: CommandWorld;
const redis = onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [acme], replyMode: 'mention' },
);

const type = (text: string, caller = aCaller()) => agentCommand.run(text, caller, world.tools);

describe('the project', () => {
  test('is the one that was named, else that of the channel', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta] });
    await type('follow job_1 --project ACME');
    await type('follow job_2', aCaller({ requestId: '1.2.b', channel: { id: 'C0BETA', name: 'beta' } }));
    expect((await world.threadRuns()).map(({ project }) => project).sort()).toEqual(['acme', 'beta']);
  });

  test('is asked for where only a person can say', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta] });
    expect((await type('follow job_1'))?.text).toBe(
      'Which project is it in: acme, beta? Nothing was sent. For example: \n/docs-agent follow job_1 --project acme',
    );
    expect((await type('new It'))?.text).toBe(
      'Which project is it for: acme, beta? Nothing was sent. For example: \n/docs-agent new … --project acme',
    );
    expect((await type('new It --project gamma'))?.text).toBe('No project "gamma". Available: acme, beta.');
    expect(await world.threadRuns()).toEqual([]);
  });
});
