import { beforeEach, describe, expect, test } from 'vitest';
import type { AgentJob } from '../../../../src/docs-api/schemas.ts';
import { threadJob } from '../../../../src/jobs/agent/thread/job.ts';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound } from '../../../support/jobs/agent/builders.ts';
import { ben, wrote } from '../../../support/jobs/agent/events.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';

let world: AgentWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const completed: AgentJob = {
  id: 'aj',
  status: 'completed',
  rawStatus: 'completed',
  prLink: 'https://github.com/acme/docs/pull/1',
};
const reports = (job: AgentJob) => {
  world.docs.getAgentJob = async () => job;
};
test('the end of a round that came while the thread was away is told all the same', async () => {
  const one = anInstruction({ creates: true, state: 'working', sentAtMs: NOW_MS, round: 1 });
  await world.follows();
  // The process died after the send was saved, before the watch knew of it.
  const sent = { instructions: [one], rounds: [aRound({ sentAtMs: NOW_MS })], watched: false };
  await world.runs.saveStep({ ...(await world.thread()), ...sent });
  reports(completed);
  world.clock.ms += 300_000;
  await world.step();
  await world.stepWatch(4);
  await world.step();
  expect(world.texts('.end.')).toEqual([
    expect.stringContaining('opened a pull request for "Also add error handling to the…": acme/docs#1'),
  ]);
});

describe('what the platform took', () => {
  beforeEach(async () => {
    await world.follows();
    await world.receives(wrote(ben, 1, '<@U0DOCKET> please'));
  });
  const isInBoth = async () => {
    expect((await world.thread()).instructions).toMatchObject([{ state: 'working', round: 1 }]);
    expect(await world.watched()).toMatchObject({ open: { sentAtMs: NOW_MS, found: false } });
    expect(world.prompts).toHaveLength(1);
  };

  test('is in the thread and in a watch that is due, though the process dies right after', async () => {
    const { runs, context } = world;
    const died: typeof runs = {
      ...runs,
      async save(run, ...more) {
        const saved = await runs.save(run, ...more);
        if ((run as unknown as ThreadRun).instructions.some(({ state }) => state === 'working'))
          throw new Error('died');
        return saved;
      },
    };
    await expect(threadJob.run(world.id, { ...context, runs: died })).rejects.toThrow('died');
    await world.step();
    await isInBoth();
    expect((await runs.active()).map(({ id }) => id)).toContain(world.watch);
  });
});
