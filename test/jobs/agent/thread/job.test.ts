import { expect, test } from 'vitest';
import { DocsApiError, type DocsApiErrorKind } from '../../../../src/docs-api/errors.ts';
import { threadJob } from '../../../../src/jobs/agent/thread/job.ts';
import { ana, ben, clicks, wrote } from '../../../support/jobs/agent/events.ts';
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

test('somebody whom Slack does not tell just now holds up the thread, but not for what they may', async () => {
  await world.follows({ mode: 'all' });
  const { check } = world.context.policy;
  world.context.policy.check = async () => ({ kind: 'unknown' });
  await world.receives(wrote(ben, 1, 'extend it'));
  expect(await world.step()).toMatchObject({ kind: 'again' });
  expect(world.prompts).toEqual([]);
  world.context.policy.check = check;
  await world.step();
  expect(world.prompts).toEqual(['extend it']);
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
