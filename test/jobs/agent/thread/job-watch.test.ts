import { beforeEach, describe, expect, test } from 'vitest';
import type { AgentJob } from '../../../../src/docs-api/schemas.ts';
import { threadJob } from '../../../../src/jobs/agent/thread/job.ts';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { addThread, recordSend, requestPoll } from '../../../../src/jobs/agent/watch/transitions.ts';
import { updateWatch } from '../../../../src/jobs/agent/watch/watches.ts';
import { keys } from '../../../../src/store/keys.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction } from '../../../support/jobs/agent/builders.ts';
import { ana, ben, wrote } from '../../../support/jobs/agent/events.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';

let world: AgentWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const active: AgentJob = { id: 'aj', status: 'active', rawStatus: 'active' };
const completed: AgentJob = {
  id: 'aj',
  status: 'completed',
  rawStatus: 'completed',
  prLink: 'https://github.com/acme/docs/pull/1',
};
const reports = (job: AgentJob) => {
  world.docs.getAgentJob = async () => job;
};
/** The watch records the send of an instruction, as a process does that dies before the thread has it. */
const watchHearsOf = (thread: ThreadRun, instructionId: string | undefined) =>
  updateWatch(
    thread,
    (watch) =>
      recordSend(
        addThread(watch, world.id, NOW_MS),
        world.id,
        `${world.id} ${instructionId} 1`,
        active,
        NOW_MS,
      ),
    world.context,
  );

test('the end of a round that came while the thread was away is told all the same', async () => {
  const one = anInstruction({ creates: true, state: 'working', sentAtMs: NOW_MS });
  const run = { agentJobId: 'aj_3f9a77bd04c24a06', instructions: [one], seen: undefined, watched: false };
  // The watch knows of the send; the process died before the thread did.
  await world.follows({ ...run, state: 'postingCard' });
  const thread = { ...(await world.thread()), ...run, state: 'following' as const };
  await watchHearsOf(thread, one.id);
  await world.runs.saveStep(thread);
  reports(completed);
  world.clock.ms += 300_000;
  await world.stepWatch(4);
  await world.step();
  expect(world.texts('.end.')).toEqual([
    expect.stringContaining('opened a pull request for "Also add error handling to the…": acme/docs#1'),
  ]);
});

test('a watch that was not woken for a send is stepped after a restart', async () => {
  await world.follows();
  await world.receives(wrote(ana, 1, 'please'));
  await world.step();
  await world.client.zrem(keys.activeRuns(), `agent-watch ${world.watch}`);
  const sent = await world.thread();
  await watchHearsOf(sent, sent.instructions[0]?.id);
  expect(await world.client.zscore(keys.activeRuns(), `agent-watch ${world.watch}`)).not.toBeNull();
});

describe('what the platform took', () => {
  beforeEach(async () => {
    await world.follows();
    await world.receives(wrote(ben, 1, '<@U0DOCKET> please'));
  });
  const isInBoth = async () => {
    expect((await world.thread()).instructions).toMatchObject([{ state: 'working', round: 1 }]);
    expect(await world.watched()).toMatchObject({ round: { n: 1 }, sends: [{ n: 1 }] });
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
    await expect(threadJob.run({ runId: world.id }, { ...context, runs: died })).rejects.toThrow('died');
    await world.step();
    await isInBoth();
    expect((await runs.active()).map(({ id }) => id)).toContain(world.watch);
  });

  test('is in both, though the watch is changed during the call, and what was changed stays', async () => {
    const { sendFollowUp } = world.docs;
    world.docs.sendFollowUp = async (...call) => {
      await updateWatch(await world.thread(), (watch) => requestPoll(watch, world.clock.ms), world.context);
      return sendFollowUp(...call);
    };
    await world.step();
    await isInBoth();
    expect(await world.watched()).toMatchObject({ pollRequested: true });
    expect(world.audited.filter((line) => line.endsWith('sent · 6 characters'))).toHaveLength(1);
  });
});
