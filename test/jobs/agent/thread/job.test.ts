import { beforeEach, describe, expect, test } from 'vitest';
import { DocsApiError, type DocsApiErrorKind } from '../../../../src/docs-api/errors.ts';
import type { AgentJob } from '../../../../src/docs-api/schemas.ts';
import { threadJob } from '../../../../src/jobs/agent/thread/job.ts';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import type { PermissionResult } from '../../../../src/policy.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound } from '../../../support/jobs/agent/builders.ts';
import { ana, ben, clicks, outcomesOf, wrote } from '../../../support/jobs/agent/events.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';

let world: AgentWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const refused = (kind: DocsApiErrorKind, operation: 'sendFollowUp' | 'getAgentJob' = 'sendFollowUp') =>
  new DocsApiError(operation, kind, { happened: 'no', what: 'refused' });
const refusesSends = (error: DocsApiError) => {
  world.docs.sendFollowUp = () => Promise.reject(error);
};

test('a thread that another process saved meanwhile is stepped again, with the same events', async () => {
  await world.follows();
  const { mode } = await world.thread();
  await world.receives(clicks(ana, 'onlyMentioned'));
  const woken: string[] = [];
  world.context.wake = async ({ id }) => void woken.push(id);
  const { saveStep } = world.context.runs;
  world.context.runs.saveStep = async (run, options) => {
    world.context.runs.saveStep = saveStep;
    await saveStep({ ...(await world.thread()), hasOtherAuthors: true });
    return saveStep(run, options);
  };
  await world.step();
  expect(woken).toEqual([world.id]);
  expect(await world.thread()).toMatchObject({ hasOtherAuthors: true, mode });
  await world.step();
  expect(await world.thread()).toMatchObject({ hasOtherAuthors: true, mode: 'mention' });
});

test('a thread that breaks says what was not sent, and who asked for it can read it in the audit log', async () => {
  await world.follows({ mode: 'all' });
  refusesSends(refused('rate_limited'));
  await world.receives(wrote(ana, 1, 'one'), wrote(ana, 2, 'two'));
  await world.step();
  await threadJob.giveUp?.(world.id, world.context, 'ref123');
  await world.step();
  expect((await world.thread()).ended).toMatchObject({ why: 'broken', ref: 'ref123', unsent: 2 });
  expect(world.audited.filter((line) => line.includes('discarded'))).toHaveLength(2);
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

const person = (id: string) => ({ id, name: id, fullMember: true, active: true });
const kinds: Record<PermissionResult['kind'], (id: string) => PermissionResult> = {
  allowed: (id) => ({ kind: 'allowed', person: person(id) }),
  refused: (id) => ({ kind: 'refused', person: person(id), ask: '@docs-admins' }),
  unknown: () => ({ kind: 'unknown' }),
};
const says = (of: string, kind: PermissionResult['kind']) => {
  world.context.policy.check = async (id) => kinds[id === of ? kind : 'allowed'](id);
};

/** What everybody wrote waits for the hour's limit. */
async function waits(...words: [typeof ana, string][]) {
  await world.follows({ mode: 'all' });
  const limit = { n: 1, perHour: 1 };
  await world.runs.save({
    ...(await world.thread()),
    limit: { ...limit, untilMs: NOW_MS + 3_600_000 },
  });
  await world.receives(...words.map(([by, text], index) => wrote(by, index + 1, text)));
  await world.step();
  expect(world.prompts).toEqual([]);
  world.clock.ms += 3_600_000;
}

test('what waited for an hour does not go out when its author may no longer instruct the agent', async () => {
  await waits([ben, 'One'], [ana, 'Two'], [ben, 'Three']);
  says(ben.id, 'refused');
  await world.step();
  expect(world.prompts).toEqual(['Two']);
  expect(outcomesOf(await world.thread())).toEqual(['discarded: One', 'working: Two', 'discarded: Three']);
  expect(world.ephemerals).toEqual([
    'U0BEN: You may no longer instruct the agent here, so your waiting instructions were not sent. Ask @docs-admins.',
  ]);
  expect(world.audited.filter((line) => line.startsWith('U0BEN'))).toEqual([
    'U0BEN instruction: discarded · 3 characters',
    'U0BEN instruction: discarded · 5 characters',
    'U0BEN agent: refused: not permitted',
  ]);
});

test('what Slack does not tell is waited for, and nothing goes out meanwhile', async () => {
  await waits([ben, 'One']);
  says(ben.id, 'unknown');
  expect(await world.step()).toEqual(expect.any(Number));
  expect(world.prompts).toEqual([]);
  says(ben.id, 'allowed');
  await world.step();
  expect(world.prompts).toEqual(['One']);
});

test('a job that was to be made with it is not made', async () => {
  says(ana.id, 'refused');
  const made: string[] = [];
  world.docs.createAgentJob = async ({ prompt }) => {
    made.push(prompt);
    return { id: 'aj', status: 'active', rawStatus: 'active' };
  };
  await world.follows({ agentJobId: undefined, instructions: [anInstruction({ creates: true })] });
  expect(made).toEqual([]);
  expect((await world.thread()).ended).toMatchObject({ why: 'notMade' });
});
