import { beforeAll, describe, expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { createReactionStore, type ReactionStore } from '../../src/store/reactions.ts';
import { redisForTests } from '../support/redis.ts';
import { dueIds } from '../support/store/world.ts';

const redis = redisForTests();
let store: ReactionStore;
beforeAll(() => {
  store = createReactionStore(redis.client);
});

const subject = { teamId: 'T0ACME', runId: 'run-1', channel: 'C0DOCS' };
const named = (wanted: Record<string, string | undefined>) =>
  new Map(Object.entries(wanted).map(([ts, name]) => [ts, name === undefined ? undefined : { name }]));
const want = (wanted: Record<string, string | undefined>, of = subject) =>
  store.setWanted(of, named(wanted), 1, 4000);
const changes = async () => (await store.load('run-1'))?.changes.map(({ read: _, ...change }) => change);

/** No delivery is to be expected: one begins. And one is, for later: it comes at once. */
const begins = { inMs: 0, replace: false };
const atOnce = { inMs: 0, replace: true };

/** Before a call about a message, as whoever has read its record says it. */
async function calling(ts: string, name: string) {
  const change = (await store.load('run-1'))?.changes.find((one) => one.ts === ts);
  return store.beginCall('run-1', change ?? { ts, read: { wanted: '', shown: '' } }, name);
}

/** Wants reactions and has them delivered. */
async function shown(wanted: Record<string, string | undefined>) {
  await want(wanted);
  for (const [ts, name] of Object.entries(wanted)) await store.setShown('run-1', ts, name);
  await store.markDelivered('run-1');
}

describe('what is wanted', () => {
  test('is kept with whose it is, in order of time, until it is shown', async () => {
    expect(await want({ '2.2': 'eyes', '1.1': 'double_vertical_bar' })).toEqual(begins);
    expect((await store.load('run-1'))?.subject).toEqual(subject);
    expect(await changes()).toEqual([
      { ts: '1.1', wanted: 'double_vertical_bar' },
      { ts: '2.2', wanted: 'eyes' },
    ]);
    expect(await dueIds(redis, 'reactions')).toEqual(['run-1']);
  });

  test('of an older state, told late, changes nothing', async () => {
    await store.setWanted(subject, named({ '1.1': 'eyes' }), 5, 4000);
    expect(await store.setWanted(subject, named({ '1.1': 'double_vertical_bar' }), 4, 4000)).toBeUndefined();
    expect(await changes()).toEqual([{ ts: '1.1', wanted: 'eyes' }]);
  });

  test('and shown already is nothing to deliver', async () => {
    await shown({ '1.1': 'eyes' });
    expect(await want({ '1.1': 'eyes' })).toBeUndefined();
    expect(await dueIds(redis, 'reactions')).toEqual([]);
  });

  test('instead of what is shown is a change', async () => {
    await shown({ '1.1': 'eyes', '1.2': 'eyes' });
    expect(await want({ '1.1': 'double_vertical_bar', '1.2': undefined })).toEqual(begins);
    expect(await changes()).toEqual([
      { ts: '1.1', wanted: 'double_vertical_bar', shown: 'eyes' },
      { ts: '1.2', shown: 'eyes' },
    ]);
  });

  test('no reaction where there is none leaves nothing behind', async () => {
    for (const nothing of [{ '1.1': undefined }, {}]) {
      expect(await want(nothing)).toBeUndefined();
      expect(await redis.client.keys('*')).toEqual([]);
    }
  });

  test('no more, before it was delivered, is not delivered any more', async () => {
    await want({ '1.1': 'eyes' });
    expect(await want({ '1.1': undefined })).toBeUndefined();
    expect(await changes()).toEqual([]);
    expect(await dueIds(redis, 'reactions')).toEqual([]);
  });

  test('and left out later is forgotten once it is delivered, and not before', async () => {
    await shown({ '1.1': 'eyes' });
    expect(await want({ '1.1': 'double_vertical_bar', '1.2': 'eyes' })).toEqual(begins);
    await store.setShown('run-1', '1.2', 'eyes');
    expect(await want({})).toBeUndefined();
    expect(await changes()).toEqual([{ ts: '1.1', wanted: 'double_vertical_bar', shown: 'eyes' }]);
    await store.setShown('run-1', '1.1', 'double_vertical_bar');
    expect(await want({})).toBeUndefined();
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('lists those that were first wanted long ago first, whatever came after', async () => {
    const late = { ...subject, runId: 'late' };
    await want({ '1.1': 'eyes' });
    await redis.client.zincrby(keys.reactionsUndelivered(), -5000, 'run-1');
    await want({ '1.1': 'eyes' }, late);
    await want({ '1.1': 'eyes', '1.2': undefined });
    expect(await dueIds(redis, 'reactions')).toEqual(['run-1', 'late']);
  });

  test('is kept as long as a run, counted from the last time it was said', async () => {
    await shown({ '1.1': 'eyes' });
    await redis.client.pexpire(keys.reactions('run-1'), 1000);
    await want({ '1.1': 'eyes' });
    const livesMs = await redis.client.pttl(keys.reactions('run-1'));
    expect(livesMs).toBeGreaterThan(retention.runMs - 60_000);
    expect(livesMs).toBeLessThanOrEqual(retention.runMs);
  });
});

describe('a call on its way', () => {
  test('may have taken effect, so its reaction is taken away again', async () => {
    await want({ '1.1': 'eyes' });
    await calling('1.1', 'eyes');
    expect(await changes()).toEqual([{ ts: '1.1', wanted: 'eyes', shown: 'eyes' }]);
    expect(await want({ '1.1': undefined })).toEqual(atOnce);
    expect(await changes()).toEqual([{ ts: '1.1', shown: 'eyes' }]);
  });

  test('to take one away may have taken effect, so it is added again', async () => {
    await shown({ '1.1': 'eyes' });
    await want({ '1.1': undefined });
    await calling('1.1', 'eyes');
    expect(await want({ '1.1': 'eyes' })).toEqual(atOnce);
    expect(await changes()).toEqual([{ ts: '1.1', wanted: 'eyes', shown: 'eyes' }]);
  });
});

describe('of two that deliver at once', () => {
  test('whoever read the record before the other began to call does not call', async () => {
    await want({ '1.1': 'eyes' });
    const [read] = (await store.load('run-1'))?.changes ?? [];
    if (read === undefined) throw new Error('nothing to deliver');
    expect(await store.beginCall('run-1', read, 'eyes')).toBe(true);
    expect(await store.beginCall('run-1', read, 'eyes')).toBe(false);
    await want({ '1.1': 'double_vertical_bar' });
    expect(await calling('1.1', 'eyes')).toBe(true);
    expect(await store.beginCall('run-1', read, 'eyes')).toBe(false);
  });

  test('nobody knows what is shown where both called', async () => {
    await want({ '1.1': 'eyes' });
    await calling('1.1', 'eyes');
    await store.setShown('run-1', '1.1', undefined, 'double_vertical_bar');
    await store.setShown('run-1', '1.1', 'eyes', 'eyes');
    expect(await changes()).toEqual([{ ts: '1.1', wanted: 'eyes', shown: 'eyes' }]);
  });
});

describe('a reaction that may wait', () => {
  const may = (unlessShown: string) =>
    store.setWanted(subject, new Map([['1.1', { name: 'eyes', unlessShown }]]), 1, 4000);

  test('is to be delivered when it may wait no longer, and the next one with it', async () => {
    expect(await may('')).toEqual({ inMs: 4000, replace: false });
    expect(await may('run-1.round.2')).toBeUndefined();
    await redis.client.hincrby(keys.reactions('run-1'), 'since:1.1', -3000);
    await store.markDelivered('run-1');
    await redis.client.del(keys.reactionsUndelivered());
    const left = await may('');
    expect(left?.inMs).toBeGreaterThan(0);
    expect(left?.inMs).toBeLessThanOrEqual(1000);
  });

  test('holds up none that may not: its delivery comes at once', async () => {
    await may('');
    const both = new Map([
      ['1.1', { name: 'eyes', unlessShown: '' }],
      ['1.2', { name: 'double_vertical_bar' }],
    ]);
    expect(await store.setWanted(subject, both, 2, 4000)).toEqual(atOnce);
    const dueMs = Number(await redis.client.zscore(keys.reactionsUndelivered(), 'run-1'));
    const [seconds] = await redis.client.time();
    expect(dueMs).toBeLessThan((Number(seconds) + 2) * 1000);
    expect(await store.setWanted(subject, both, 3, 4000)).toBeUndefined();
  });

  test('tells what may show the same, and how long it has waited since it was first wanted', async () => {
    await may('');
    await redis.client.hincrby(keys.reactions('run-1'), 'since:1.1', -5000);
    await may('run-1.round.2');
    const [change] = (await changes()) ?? [];
    expect(change).toMatchObject({ ts: '1.1', wanted: 'eyes', deferral: { unlessShown: 'run-1.round.2' } });
    expect(change?.deferral?.waitedMs).toBeGreaterThanOrEqual(5000);
    expect(change?.deferral?.waitedMs).toBeLessThan(15_000);
  });

  test('may wait no more when it is wanted at once, or something else is', async () => {
    await may('');
    await want({ '1.1': 'double_vertical_bar' });
    expect(await changes()).toEqual([{ ts: '1.1', wanted: 'double_vertical_bar' }]);
    await store.setShown('run-1', '1.1', 'double_vertical_bar');
    await may('');
    await store.setShown('run-1', '1.1', undefined, 'double_vertical_bar');
    expect((await changes())?.[0]?.deferral).toBeDefined();
    await store.setShown('run-1', '1.1', 'eyes');
    expect(await store.markDelivered('run-1')).toBe(true);
    expect(await store.setWanted(subject, new Map(), 1, 4000)).toBeUndefined();
    expect(await redis.client.keys('*')).toEqual([]);
  });
});

describe('marking delivered', () => {
  test('takes a run from the undelivered ones when everything is shown', async () => {
    await want({ '1.1': 'eyes', '1.2': 'eyes' });
    await store.setShown('run-1', '1.1', 'eyes');
    expect(await store.markDelivered('run-1')).toBe(false);
    expect(await dueIds(redis, 'reactions')).toEqual(['run-1']);
    await store.setShown('run-1', '1.2', 'eyes');
    expect(await store.markDelivered('run-1')).toBe(true);
    expect(await dueIds(redis, 'reactions')).toEqual([]);
  });

  test('puts a run back that somebody else had marked delivered', async () => {
    await want({ '1.1': 'eyes' });
    await redis.client.del(keys.reactionsUndelivered());
    expect(await store.markDelivered('run-1')).toBe(false);
    expect(await dueIds(redis, 'reactions')).toEqual(['run-1']);
  });

  test('forgets one without a record', async () => {
    await want({ '1.1': 'eyes' });
    await redis.client.del(keys.reactions('run-1'));
    expect(await store.load('run-1')).toBeUndefined();
    expect(await store.markDelivered('run-1')).toBe(true);
    expect(await dueIds(redis, 'reactions')).toEqual([]);
  });
});

test('failures are kept until something works', async () => {
  await want({ '1.1': 'eyes' });
  const failures = async () => (await store.load('run-1'))?.failures;
  expect(await failures()).toBe(0);
  await store.setFailures('run-1', 2);
  await calling('1.1', 'eyes');
  expect(await failures()).toBe(2);
  await store.setShown('run-1', '1.1', 'eyes');
  expect(await failures()).toBe(0);
});

test('a record that is gone is not brought back without an end', async () => {
  await calling('1.1', 'eyes');
  await store.setShown('run-1', '1.1', 'eyes');
  await store.setFailures('run-1', 1);
  expect(await redis.client.keys('*')).toEqual([]);
});
