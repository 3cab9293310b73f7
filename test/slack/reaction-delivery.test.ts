import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { SlackApiError, type SlackErrorKind } from '../../src/slack/errors.ts';
import { createReactionDelivery, type ReactionDeliveryParts } from '../../src/slack/reaction-delivery.ts';
import { keys } from '../../src/store/keys.ts';
import { createRateLimitStore } from '../../src/store/rate-limit.ts';
import { createReactionStore, type ReactionStore } from '../../src/store/reactions.ts';
import { redisForTests } from '../support/redis.ts';
import { dueIds } from '../support/store/world.ts';

const redis = redisForTests();
let store: ReactionStore;
let parts: ReactionDeliveryParts;
/** What Slack was asked, in order, and what it shows. */
let asked: string[];
let slack: Map<string, Set<string>>;
/** What goes wrong with the next calls: before they take effect, or after. */
let trouble: { error: unknown; after?: boolean }[];
/** Keys of the messages that Slack shows as they are wanted. */
let shownMessages: Set<string>;
/** For how long Slack is not asked, since it refuses the token. */
let refusedForMs: number;
beforeEach(() => {
  refusedForMs = 0;
  shownMessages = new Set();
  store = createReactionStore(redis.client);
  asked = [];
  slack = new Map();
  trouble = [];
  const call = (sign: '+' | '-') => async (at: { channel: string; ts: string }, name: string) => {
    asked.push(`${sign}${name} ${at.channel} ${at.ts}`);
    const wrong = trouble.shift();
    if (wrong !== undefined && !wrong.after) throw wrong.error;
    const there = slack.get(at.ts) ?? new Set();
    if (sign === '+') there.add(name);
    else there.delete(name);
    slack.set(at.ts, there);
    if (wrong !== undefined) throw wrong.error;
  };
  parts = {
    slack: { addReaction: call('+'), removeReaction: call('-'), refusedForMs: () => refusedForMs },
    reactions: store,
    isShown: async (key) => shownMessages.has(key),
    rateLimiter: createRateLimitStore(redis.client),
    timing: defaultTiming,
    random: () => 0.5,
    log: pino({ level: 'silent' }),
  };
});

const subject = { teamId: 'T0ACME', runId: 'run-1', channel: 'C0DOCS' };
const want = (wanted: Record<string, string | undefined>) =>
  store.setWanted(
    subject,
    new Map(Object.entries(wanted).map(([ts, name]) => [ts, name === undefined ? undefined : { name }])),
    1,
    1000,
  );
const deliver = (runId = 'run-1') => createReactionDelivery(parts)(runId);
const shows = (ts: string) => [...(slack.get(ts) ?? [])];
const failure = (kind: SlackErrorKind, details: { retryAfterMs?: number } = {}) =>
  new SlackApiError(kind, 'reactions.add', 'some_code', details);

test('reactions are added in the order in which the messages were written', async () => {
  await want({ '1758376802.000100': 'eyes', '1758376801.000100': 'double_vertical_bar' });
  expect(await deliver()).toBeUndefined();
  expect(asked).toEqual(['+double_vertical_bar C0DOCS 1758376801.000100', '+eyes C0DOCS 1758376802.000100']);
  expect(await dueIds(redis, 'reactions')).toEqual([]);
});

test('another reaction takes the place of the old one, and none takes it away', async () => {
  await want({ '1.1': 'double_vertical_bar', '1.2': 'eyes' });
  await deliver();
  asked.splice(0);
  await want({ '1.1': 'eyes', '1.2': undefined });
  expect(await deliver()).toBeUndefined();
  expect(asked).toEqual(['-double_vertical_bar C0DOCS 1.1', '+eyes C0DOCS 1.1', '-eyes C0DOCS 1.2']);
  expect([shows('1.1'), shows('1.2')]).toEqual([['eyes'], []]);
});

test('what is shown already is not asked for again', async () => {
  await want({ '1.1': 'eyes' });
  await deliver();
  await want({ '1.1': 'eyes', '1.2': 'eyes' });
  await deliver();
  expect(asked).toEqual(['+eyes C0DOCS 1.1', '+eyes C0DOCS 1.2']);
});

test('a run without a record is forgotten', async () => {
  await want({ '1.1': 'eyes' });
  await redis.client.del(...(await redis.client.keys('*reactions:run-1')));
  expect(await deliver()).toBeUndefined();
  expect([asked, await dueIds(redis, 'reactions')]).toEqual([[], []]);
});

test('what is wanted again during a delivery is delivered by the next', async () => {
  await want({ '1.1': 'eyes' });
  const { addReaction } = parts.slack;
  parts.slack.addReaction = async (...args) => {
    parts.slack.addReaction = addReaction;
    await addReaction(...args);
    await want({ '1.1': 'double_vertical_bar' });
  };
  expect(await deliver()).toBe(0);
  expect(await deliver()).toBeUndefined();
  expect(shows('1.1')).toEqual(['double_vertical_bar']);
});

describe('whoever waits for a slot', () => {
  const wanted = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`1.${100 + n}`, 'eyes']));

  test('gives the worker back, and goes on where it was', async () => {
    await want(wanted(10));
    const waitMs = await deliver();
    expect(waitMs).toBeGreaterThan(500);
    expect(waitMs).toBeLessThanOrEqual(1500);
    expect(asked).toHaveLength(8);
    expect((await store.load('run-1'))?.changes).toHaveLength(2);
  });

  test('for taking reactions away has fewer slots than for adding some', async () => {
    await want(wanted(6));
    await deliver();
    asked.splice(0);
    await want(Object.fromEntries(Object.keys(wanted(6)).map((ts) => [ts, undefined])));
    expect(await deliver()).toBeGreaterThan(2500);
    expect(asked).toHaveLength(3);
  });

  test('has more slots where the rates are lifted', async () => {
    parts.timing = { ...defaultTiming, reactionsPerMinute: 6000 };
    await want(wanted(50));
    expect(await deliver()).toBeUndefined();
    expect(asked).toHaveLength(50);
  });
});

test.each<SlackErrorKind>(['missing', 'place', 'refused', 'blocks'])(
  'what Slack refuses for good (%s) counts as shown, and the next follows',
  async (kind) => {
    trouble = [{ error: failure(kind) }];
    await want({ '1.1': 'eyes', '1.2': 'eyes' });
    expect(await deliver()).toBeUndefined();
    expect(asked).toEqual(['+eyes C0DOCS 1.1', '+eyes C0DOCS 1.2']);
    expect(await want({ '1.1': 'eyes', '1.2': 'eyes' })).toBeUndefined();
  },
);

test.each([
  [20_000, 20_000],
  [undefined, defaultTiming.retryMaxMs],
])('when Slack limits us (for %s ms), nobody reacts before that is over', async (retryAfterMs, waitMs) => {
  trouble = [{ error: failure('limited', retryAfterMs === undefined ? {} : { retryAfterMs }) }];
  await want({ '1.1': 'eyes' });
  expect(await deliver()).toBe(waitMs);
  // The pace names at most 5 s at a time.
  expect(await deliver()).toBe(5000);
  expect(asked).toHaveLength(1);
});

test('many replies of one thread do not hold up the reaction in another', async () => {
  parts.timing = { ...defaultTiming, reactionsPerMinute: 20 };
  await want(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n + 1}.1`, 'eyes'])));
  expect(await deliver()).toBeGreaterThan(0);
  const other = { ...subject, runId: 'run-2' };
  await store.setWanted(other, new Map([['100.1', { name: 'eyes' }]]), 1, 1000);
  // One turn in 3 s: the next one is theirs.
  expect(await deliver('run-2')).toBeLessThanOrEqual(3000);
});

test('while Slack refuses the token nothing is called, and no slot is taken', async () => {
  await want({ '1.1': 'eyes' });
  refusedForMs = 7000;
  expect(await deliver()).toBe(7000);
  expect(asked).toEqual([]);
  refusedForMs = 0;
  expect(await deliver()).toBeUndefined();
});

describe('a reaction that may wait for a message to show the same', () => {
  const may = (unlessShown = 'run-1.round.1') =>
    store.setWanted(subject, new Map([['1.1', { name: 'eyes', unlessShown }]]), 1, 1000);
  const afterMs = (ms: number) => redis.client.hincrby(keys.reactions('run-1'), 'since:1.1', -ms);

  test('is not added where the message shows it in time', async () => {
    await may();
    expect(await deliver()).toBeGreaterThan(defaultTiming.reactAfterMs - 1000);
    shownMessages.add('run-1.round.1');
    await afterMs(defaultTiming.reactAfterMs);
    expect(await deliver()).toBeUndefined();
    expect(asked).toEqual([]);
    expect(await may()).toBeUndefined();
  });

  test('is added where nothing shows it in time', async () => {
    await may();
    await deliver();
    await afterMs(defaultTiming.reactAfterMs);
    expect(await deliver()).toBeUndefined();
    expect(shows('1.1')).toEqual(['eyes']);
  });

  test('keeps no other waiting', async () => {
    await may();
    const both = new Map([
      ['1.1', { name: 'eyes', unlessShown: '' }],
      ['1.2', { name: 'double_vertical_bar' }],
    ]);
    await store.setWanted(subject, both, 1, 1000);
    expect(await deliver()).toBeGreaterThan(1000);
    expect(asked).toEqual(['+double_vertical_bar C0DOCS 1.2']);
  });

  test('waits for those that are due soon after it', async () => {
    await may();
    await afterMs(defaultTiming.reactAfterMs - 500);
    expect(await deliver()).toBe(1000);
  });

  test('lets the one before it go at once', async () => {
    await want({ '1.1': 'double_vertical_bar' });
    await deliver();
    await may();
    await deliver();
    expect(shows('1.1')).toEqual([]);
    shownMessages.add('run-1.round.1');
    await afterMs(defaultTiming.reactAfterMs);
    expect(await deliver()).toBeUndefined();
    expect(shows('1.1')).toEqual([]);
  });
});

describe('a call without a result', () => {
  test.each<SlackErrorKind>(['unreachable', 'token'])('is tried again, later each time: %s', async (kind) => {
    trouble = [{ error: failure(kind) }, { error: failure(kind) }];
    await want({ '1.1': 'eyes' });
    expect([await deliver(), await deliver()]).toEqual([1000, 2000]);
    expect(await deliver()).toBeUndefined();
    expect(shows('1.1')).toEqual(['eyes']);
  });

  test('is the first in a row after one that worked', async () => {
    await want({ '1.1': 'eyes', '1.2': 'eyes' });
    trouble = [{ error: failure('unreachable') }];
    await deliver();
    const { addReaction } = parts.slack;
    parts.slack.addReaction = async (at, name) => {
      if (at.ts === '1.2') throw failure('unreachable');
      await addReaction(at, name);
    };
    expect([await deliver(), await deliver()]).toEqual([1000, 2000]);
    expect(shows('1.1')).toEqual(['eyes']);
  });

  test('that may still arrive is not overtaken', async () => {
    trouble = [{ error: failure('unclear'), after: true }];
    await want({ '1.1': 'eyes' });
    expect(await deliver()).toBe(defaultTiming.callMarginMs);
  });

  test('may have added a reaction that is wanted no more', async () => {
    trouble = [{ error: failure('unclear'), after: true }];
    await want({ '1.1': 'eyes' });
    await deliver();
    await want({ '1.1': 'double_vertical_bar' });
    await deliver();
    expect(shows('1.1')).toEqual(['double_vertical_bar']);
  });

  test('may have taken one away that is wanted again', async () => {
    await want({ '1.1': 'eyes' });
    await deliver();
    trouble = [{ error: failure('unclear'), after: true }];
    await want({ '1.1': undefined });
    await deliver();
    await want({ '1.1': 'eyes' });
    await deliver();
    expect(shows('1.1')).toEqual(['eyes']);
  });

  test('and no answer at all of Slack is our own defect', async () => {
    trouble = [{ error: new TypeError('a defect') }];
    await want({ '1.1': 'eyes' });
    await expect(deliver()).rejects.toThrow('a defect');
    expect(await dueIds(redis, 'reactions')).toEqual(['run-1']);
  });
});
