import { beforeEach, describe, expect, test } from 'vitest';
import { DocsApiError, type DocsApiErrorKind } from '../../../../src/docs-api/errors.ts';
import { followUpLimit } from '../../../../src/jobs/agent/thread/follow-up-limit.ts';
import { threadJob } from '../../../../src/jobs/agent/thread/job.ts';
import { Stopping } from '../../../../src/runtime/stopping.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import { keys } from '../../../../src/store/keys.ts';
import { aThread } from '../../../support/jobs/agent/builders.ts';
import { ana, ben, clicks, instructs, wrote } from '../../../support/jobs/agent/events.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';

let world: AgentWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const refused = (kind: DocsApiErrorKind, operation: 'sendFollowUp' | 'getAgentJob' = 'sendFollowUp') =>
  new DocsApiError('refused', { operation, kind, happened: 'no', retryable: kind === 'rate_limited' });
const refusesSends = (error: DocsApiError) => {
  world.docs.sendFollowUp = () => Promise.reject(error);
};

test('a platform that says "too many" again and again is told of in one message', async () => {
  await world.follows();
  refusesSends(refused('rate_limited'));
  await world.receives(wrote(ana, 1, 'please'));
  for (let times = 0; times < 4; times += 1) {
    await world.step();
    world.clock.ms = ((await world.thread()).limit?.untilMs ?? 0) + 10;
    // Redis' clock does not move along.
    await world.client.del(keys.rateLimit('follow-ups:default:hold'));
  }
  expect(
    new Set(world.published.filter((line) => line.includes('.limit.')).map((line) => line.split(' ')[0]))
      .size,
  ).toBe(1);
  expect((await world.thread()).limit).toMatchObject({ kind: 'platform', refusals: 4 });
});

test('a thread that another process saved meanwhile is stepped again, with the same events', async () => {
  await world.follows();
  const { mode } = await world.thread();
  await world.receives(clicks(ana, 'onlyMentioned'));
  const woken: string[] = [];
  world.context.wake = async ({ id }) => void woken.push(id);
  const { save } = world.context.threads;
  world.context.threads.save = async (run, taken) => {
    world.context.threads.save = save;
    await save({ ...(await world.thread()), crowd: true }, 0);
    return save(run, taken);
  };
  await world.step();
  expect(woken).toEqual([world.id]);
  expect(await world.thread()).toMatchObject({ crowd: true, mode });
  await world.step();
  expect(await world.thread()).toMatchObject({ crowd: true, mode: 'mention' });
});

test('whether its channel is public is not settled by a process that is to stop', async () => {
  const asked = { ...aThread().asked, isPublic: false };
  const channel = world.context.slack.channel;
  world.context.slack.channel = async () => {
    throw new Stopping();
  };
  const fresh = { state: 'accepted', checked: false, asked } as const;
  await expect(world.follows(fresh)).rejects.toThrow(Stopping);
  expect(await world.thread()).toMatchObject({ ...fresh, rev: 1 });
  world.context.slack.channel = channel;
  await world.step();
  expect((await world.thread()).asked.isPublic).toBe(true);
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

test('a damaged entry is left out; what comes before and after it goes out', async () => {
  await world.follows();
  await world.receives(wrote(ana, 1, 'one'));
  await world.client.rpush(keys.inbox(world.id), JSON.stringify({ kind: 'unheard of' }));
  await world.receives(wrote(ana, 2, 'two'));
  await world.step();
  expect(world.prompts).toEqual(['one', 'two']);
  expect(await world.client.llen(keys.inbox(world.id))).toBe(0);
});

test('whoever wants something of a thread that was just stopped is told', async () => {
  await world.follows();
  await world.receives(clicks(ben, 'stop'));
  await world.receives(
    instructs(ana, 'i1', 'do it'),
    wrote(ana, 3, '<@U0DOCKET> follow aj_2'),
    wrote(ben, 4, 'thanks'),
  );
  for (let times = 0; times < 3; times += 1) await world.step();
  const told = world.ephemerals.filter((text) => text.includes('no longer follows a job'));
  expect(told.map((text) => text.slice(0, 5))).toEqual(['U0ANA', 'U0ANA']);
  expect(world.audited).toContain('U0BEN agent: stopped');
});

test('people see how things are while instructions go out one after the other', async () => {
  await world.follows();
  const { sendFollowUp } = world.docs;
  world.docs.sendFollowUp = async (input) => {
    world.clock.ms += 3000;
    return sendFollowUp(input);
  };
  await world.receives(...Array.from({ length: 20 }, (_, index) => wrote(ana, index, `please ${index}`)));
  const cards = () => world.published.filter((one) => one.includes('.card ')).length;
  const before = cards();
  await world.step();
  expect(world.prompts).toHaveLength(20);
  expect(cards() - before).toBeGreaterThan(10);
});

test('private notes do not hold up instructions, and none is tried after a refusal', async () => {
  await world.follows({ mode: 'mention' });
  let whispers = 0;
  world.context.slack.postEphemeralTo = async () => {
    whispers += 1;
    throw new SlackApiError('limited', 'chat.postEphemeral', 'ratelimited', {
      retryAfterMs: 30_000,
    });
  };
  await world.receives(...Array.from({ length: 30 }, (_, index) => wrote(ana, index, '<@U0DOCKET> help')));
  expect(await world.step()).toMatchObject({ kind: 'again', inMs: 30_000 });
  expect(whispers).toBe(1);
});

describe('a job that the platform does not know', () => {
  beforeEach(() => world.follows());

  const unknownFor = async (ms: number) => {
    world.docs.getAgentJob = async () => {
      throw refused('not_found', 'getAgentJob');
    };
    await world.receives(clicks(ana, 'checkJob'));
    await world.step();
    const endMs = world.clock.ms + ms;
    while (world.clock.ms < endMs) {
      await world.stepWatch(1);
      world.clock.ms += 1000;
    }
    await world.step();
  };

  test('for a moment is not shown as unknown', async () => {
    await unknownFor(10_000);
    expect((await world.watched()).gone).toBeUndefined();
  });

  test('for a minute is shown as unknown, until it is known again', async () => {
    await unknownFor(120_000);
    expect((await world.thread()).gone).toBe(true);
    await world.receives(wrote(ana, 200, 'please'));
    await world.step();
    expect(world.prompts).toEqual(['please']);
    expect((await world.thread()).gone).toBeUndefined();
  });
});

test('a thread that breaks says what was not sent, and who asked for it can read it in the audit log', async () => {
  await world.follows({ mode: 'all' });
  refusesSends(refused('rate_limited'));
  await world.receives(wrote(ana, 1, 'one'), wrote(ana, 2, 'two'));
  await world.step();
  await threadJob.giveUp?.({ runId: world.id }, world.context, 'ref123');
  await world.step();
  expect((await world.thread()).ended).toMatchObject({ why: 'broken', ref: 'ref123', unsent: 2 });
  expect(world.audited.filter((line) => line.includes('discarded'))).toHaveLength(2);
});

test('a thread that ends leaves nothing behind that stays for ever', async () => {
  await world.follows();
  refusesSends(refused('bad_request'));
  await world.receives(wrote(ana, 1, 'please'));
  await world.step();
  await world.receives(clicks(ana, 'stop'));
  for (let times = 0; times < 3; times += 1) await world.step();
  await world.stepWatch();
  const endless: string[] = [];
  for (const key of await world.client.keys('*'))
    if ((await world.client.pttl(key)) === -1) endless.push(key);
  // The lists of what is to be done, which empty themselves.
  const isList = (key: string) => key.startsWith(keys.activeRuns()) || key === keys.undelivered();
  expect(endless.filter((key) => !isList(key))).toEqual([]);
  expect(await world.client.exists(keys.claim('agent-thread T0ACME C0DOCS 1789912800.000100'))).toBe(0);
});

test('that the platform does not answer is no longer said once it is not tried any more', async () => {
  await world.follows({ mode: 'all' });
  refusesSends(
    new DocsApiError('away', { operation: 'sendFollowUp', kind: 'refused', happened: 'no', retryable: true }),
  );
  await world.receives(wrote(ana, 1, 'one'), wrote(ana, 2, 'two'));
  for (let times = 0; times < 14; times += 1) {
    await world.step();
    world.clock.ms += 30_000;
  }
  const [first, ...others] = world.texts('.retry.');
  expect(first).not.toContain("I'll keep trying");
  expect(others.at(-1)).toContain('"two" is not sent yet');
});

test.each(['the project goes from the settings', 'the thread breaks'])(
  'when %s, nobody waits behind it for the hour’s limit',
  async (what) => {
    world.context.limits = { ...world.context.limits, followUpsPerHour: 1 };
    await world.follows({ mode: 'all' });
    await world.receives(wrote(ana, 1, 'one'), wrote(ana, 2, 'two'));
    await world.step();
    const use = () => world.context.rateLimiter.usage(followUpLimit('default', 1));
    expect(await use()).toMatchObject({ used: 1, waiting: 1 });
    if (what === 'the thread breaks') await threadJob.giveUp?.({ runId: world.id }, world.context, 'ref');
    else {
      world.context.projectId = () => undefined;
      world.clock.ms += 3_600_000;
      await world.step();
    }
    expect(await use()).toMatchObject({ waiting: 0 });
  },
);
