import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { createRateLimitStore, type RateLimitStore } from '../../src/store/rate-limit.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { createThreadStore, type ThreadStore } from '../../src/store/threads.ts';
import { redisForTests } from '../support/redis.ts';
import { aThread } from '../support/store/builders.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

const redis = redisForTests();
let limits: RateLimitStore;
let threads: ThreadStore;
let rev: number;
beforeAll(() => {
  limits = createRateLimitStore(redis.client);
  threads = createThreadStore(redis.client);
});
beforeEach(async () => {
  rev = 1;
  await createRunStore(redis.client).accept(aThread(), Number.MAX_SAFE_INTEGER, 0, undefined);
});

const three = { name: 'acme', count: 3, windowMs: HOUR };

/** 0 for a use, else when to ask again. */
async function take(of: string, sinceMs = 1, limit = three): Promise<number> {
  const answer = await threads.save(aThread({ rev }), 0, { limit, id: of, sinceMs });
  if (answer.kind === 'limited') return answer.inMs;
  expect(answer.kind).toBe('saved');
  rev += 1;
  return 0;
}

async function takeAll(...names: string[]) {
  const waits: number[] = [];
  for (const of of names) waits.push(await take(of));
  return waits;
}

/** Lets time pass for the limit: what is kept are the times of its uses, and until when somebody is waited for. */
async function passes(ms: number) {
  for (const key of [keys.windowLimit('acme'), keys.windowLimit('acme:until')])
    for (const of of await redis.client.zrange(key, '0', '-1')) await redis.client.zincrby(key, -ms, of);
  const hold = keys.windowLimit('acme:hold');
  if (await redis.client.exists(hold)) await redis.client.hincrbyfloat(hold, 'full', -ms);
}

/** Within half a minute below. */
function expectAbout(ms: number, wanted: number) {
  expect(ms).toBeLessThanOrEqual(wanted);
  expect(ms).toBeGreaterThan(wanted - MINUTE / 2);
}

describe('uses', () => {
  test('are as many as the limit has, then one is told when the oldest ends its hour', async () => {
    expect(await takeAll('a', 'b', 'c')).toEqual([0, 0, 0]);
    await passes(10 * MINUTE);
    expectAbout(await take('d'), 50 * MINUTE);
  });

  test('come back one by one, each an hour after it was taken', async () => {
    for (const of of ['a', 'b', 'c']) {
      await take(of);
      await passes(10 * MINUTE);
    }
    expectAbout(await take('d'), 30 * MINUTE);
    await passes(30 * MINUTE);
    expect(await take('d')).toBe(0);
    expectAbout(await take('e'), 10 * MINUTE);
  });

  test('are free again after the hour itself, and never more than the limit in any hour', async () => {
    const shortMs = 1000;
    const quick = { ...three, windowMs: shortMs };
    const taken: number[] = [];
    while (taken.length < 9) {
      const of = `use ${taken.length}`;
      if ((await take(of, 1, quick)) > 0) continue;
      taken.push(Number(await redis.client.zscore(keys.windowLimit('acme'), of)));
    }
    for (const [index, atMs] of taken.slice(3).entries())
      expect(atMs - (taken[index] ?? 0)).toBeGreaterThanOrEqual(shortMs);
    expect((taken[8] ?? 0) - (taken[0] ?? 0)).toBeLessThan(3 * shortMs);
  });

  test('of the same name count once, as of the last time', async () => {
    expect(await takeAll('a', 'a', 'a', 'a')).toEqual([0, 0, 0, 0]);
    expect(await takeAll('b', 'c', 'a')).toEqual([0, 0, 0]);
    expect(await limits.usage(three)).toMatchObject({ used: 3, waiting: 0 });
    await passes(HOUR);
    expect(await takeAll('a', 'b')).toEqual([0, 0]);
    expect(await limits.usage(three)).toMatchObject({ used: 2 });
  });

  test('are free again, however many are wanted, when it is said', async () => {
    await takeAll('a', 'b');
    await passes(10 * MINUTE);
    await take('c');
    const [first, third, fourth] = await Promise.all(
      [1, 3, 4].map((wanted) => limits.freeInMs(three, wanted)),
    );
    expectAbout(first ?? 0, 50 * MINUTE);
    expectAbout(third ?? 0, HOUR);
    expectAbout(fourth ?? 0, 110 * MINUTE);
  });

  test('that are given back can be had by others', async () => {
    await takeAll('a', 'b', 'c');
    await limits.releaseSlot(three, 'b');
    expect(await limits.usage(three)).toMatchObject({ used: 2, nextMs: 0 });
    expect(await take('d')).toBe(0);
  });

  test('of one limit are none of another', async () => {
    await takeAll('a', 'b', 'c', 'd');
    expect(await take('d', 1, { ...three, name: 'beta', count: 1 })).toBe(0);
  });

  test('above a limit that was made smaller have to end first', async () => {
    for (const of of ['a', 'b', 'c']) {
      await take(of);
      await passes(10 * MINUTE);
    }
    expectAbout(await take('d', 1, { ...three, count: 1 }), 50 * MINUTE);
  });

  test('from before Redis’ clock was set back count as of now', async () => {
    await takeAll('a', 'b', 'c');
    await passes(-5 * HOUR);
    expectAbout(await take('d'), HOUR);
  });
});

describe('those who wait', () => {
  test('get waits that end one after the other, and after further hours when they are many', async () => {
    for (const of of ['a', 'b', 'c']) {
      await take(of);
      await passes(10 * MINUTE);
    }
    const told: number[] = [];
    for (let place = 0; place < 7; place += 1) told.push(await take(`w${place}`, place));
    const wanted = [30, 40, 50, 90, 100, 110, 150];
    for (const [index, minutes] of wanted.entries()) expectAbout(told[index] ?? 0, minutes * MINUTE);
    expect(await limits.usage(three)).toMatchObject({ used: 3, waiting: 7 });
  });

  test('have their uses in order of the time since when, whoever asks first', async () => {
    await takeAll('a', 'b', 'c');
    await take('late', 20);
    await take('early', 10);
    await passes(HOUR - MINUTE);
    await redis.client.zrem(keys.windowLimit('acme'), 'a');
    expect(await take('late', 20)).toBeGreaterThan(0);
    expect(await take('early', 10)).toBe(0);
  });

  test('keep the place of their first question', async () => {
    await takeAll('a', 'b', 'c');
    await take('one', 10);
    await take('two', 20);
    await take('one', 30);
    await limits.releaseSlot(three, 'a');
    expect(await take('two', 20)).toBeGreaterThan(0);
    expect(await take('one', 30)).toBe(0);
  });

  test('and want it no more leave their place to those who come later', async () => {
    await takeAll('a', 'b', 'c');
    await take('first', 10);
    await limits.releaseSlot(three, 'first');
    await passes(5 * MINUTE);
    expectAbout(await take('second', 20), 55 * MINUTE);
    expect(await limits.usage(three)).toMatchObject({ used: 3, waiting: 1 });
  });

  test('are waited for when uses are free, by those who come later', async () => {
    await takeAll('a', 'b', 'c');
    await take('first', 10);
    await passes(5 * MINUTE);
    await limits.releaseSlot(three, 'a');
    expectAbout(await take('second', 20), 55 * MINUTE);
    expect(await take('first', 10)).toBe(0);
  });

  test('and do not come within a minute of the end of their wait are not waited for', async () => {
    await takeAll('a', 'b', 'c');
    const inMs = await take('dead', 10);
    await passes(inMs + MINUTE / 2);
    await takeAll('d', 'e');
    expect(await take('alive', 20)).toBeGreaterThan(0);
    await passes(MINUTE / 2);
    expect(await limits.usage(three)).toMatchObject({ waiting: 1 });
    expect(await take('alive', 20)).toBe(0);
  });

  test('and had a use stand in the line no more', async () => {
    await takeAll('a', 'b', 'c', 'd');
    await passes(HOUR);
    expect(await take('d')).toBe(0);
    expect(await redis.client.exists(keys.windowLimit('acme:order'), keys.windowLimit('acme:until'))).toBe(0);
  });

  test('are counted, and asking for that takes nothing', async () => {
    expect(await limits.usage(three)).toEqual({ used: 0, free: 3, waiting: 0, nextMs: 0 });
    await takeAll('a', 'b', 'c', 'd', 'e');
    await passes(10 * MINUTE);
    const use = await limits.usage(three);
    expect(use).toMatchObject({ used: 3, waiting: 2 });
    expectAbout(use.nextMs, 50 * MINUTE);
    expect(await limits.usage(three)).toMatchObject({ used: 3, waiting: 2 });
  });
});

describe('after a refusal by the other side', () => {
  const answer = (of: string) => threads.save(aThread({ rev }), 0, { limit: three, id: of, sinceMs: 1 });

  test('nothing is used before the wait is over, whatever is free', async () => {
    await limits.hold(three, 10 * MINUTE);
    expect(await answer('a')).toMatchObject({ kind: 'limited', onHold: true });
    expectAbout(await take('a'), 10 * MINUTE);
    expectAbout((await limits.usage(three)).nextMs, 10 * MINUTE);
    await redis.client.del(keys.windowLimit('acme:hold'));
    expect(await take('a')).toBe(0);
  });

  test('those who wait begin when the wait is over', async () => {
    await limits.hold(three, 10 * MINUTE);
    const told = await takeAll('a', 'b', 'c', 'd');
    for (const [index, minutes] of [10, 10, 10, 70].entries())
      expectAbout(told[index] ?? 0, minutes * MINUTE);
  });

  test('a use that was taken before waits as well', async () => {
    await take('a');
    await limits.hold(three, 10 * MINUTE);
    expectAbout(await take('a'), 10 * MINUTE);
  });

  test('the longer of hold and hour counts, and is named', async () => {
    await takeAll('a', 'b', 'c');
    await limits.hold(three, 10 * MINUTE);
    expectAbout(await take('d'), HOUR);
    expect(await answer('d')).toMatchObject({ onHold: false });
    await limits.hold(three, 2 * HOUR);
    expectAbout(await take('d'), 2 * HOUR);
    expect(await answer('d')).toMatchObject({ onHold: true });
  });

  test('a shorter hold does not undo a longer one, and one of the past is none', async () => {
    await limits.hold(three, 0);
    expect((await limits.usage(three)).nextMs).toBe(0);
    await limits.hold(three, 10 * MINUTE);
    await limits.hold(three, MINUTE);
    expectAbout(await take('a'), 10 * MINUTE);
  });
});

describe('a process of the last release', () => {
  const hold = keys.windowLimit('acme:hold');

  test('keeps a hold as a string, which counts here and is replaced by a longer one', async () => {
    await redis.client.set(hold, 1, 'PX', 10 * MINUTE);
    expectAbout(await take('a'), 10 * MINUTE);
    await limits.hold(three, MINUTE);
    expect(await redis.client.type(hold)).toBe('string');
    await limits.hold(three, 20 * MINUTE);
    expectAbout(await take('a'), 20 * MINUTE);
  });

  test('reads the hold of this one from its time to live', async () => {
    await limits.hold(three, 10 * MINUTE);
    expectAbout(await redis.client.pttl(hold), 10 * MINUTE);
  });

  test('counts its uses in the same set', async () => {
    const [seconds] = await redis.client.time();
    await redis.client.zadd(keys.windowLimit('acme'), Number(seconds) * 1000 - 10 * MINUTE, 'old');
    expect(await takeAll('a', 'b')).toEqual([0, 0]);
    expectAbout(await take('c'), 50 * MINUTE);
  });
});

test('groups of those who wait have their slots in turn', async () => {
  await takeAll('a', 'b', 'c');
  const request = (id: string, sinceMs: number) => ({ id, sinceMs, group: id.slice(0, 3) });
  const line = [request('ana 1', 1), request('ana 2', 2), request('ben 1', 3)];
  for (const one of line) await limits.takeSlot(three, one);
  await limits.releaseSlot(three, 'a');
  await limits.releaseSlot(three, 'b');
  const waits: number[] = [];
  for (const one of line.toReversed()) waits.push(await limits.takeSlot(three, one));
  expect(waits).toEqual([0, expect.any(Number), 0]);
  expect(waits[1]).toBeGreaterThan(0);
});

test('a hold from before Redis’ clock was set back is over', async () => {
  await limits.hold(three, 10 * MINUTE);
  expect(await take('a')).toBeGreaterThan(0);
  await redis.client.hincrby(keys.windowLimit('acme:hold'), 'since', HOUR);
  expect(await take('a')).toBe(0);
});

test('everything of a limit ends by itself', async () => {
  await takeAll('a', 'b', 'c');
  await take('w1', 1);
  for (let place = 2; place < 9; place += 1) await take(`w${place}`, place);
  await limits.hold(three, 5.5);
  // Somebody who is told a shorter time must not cut that of the others.
  await take('w1', 1);
  const left = (part: string) => redis.client.pttl(keys.windowLimit(part));
  expectAbout(await left('acme'), HOUR);
  expectAbout(await left('acme:order'), 3 * HOUR + MINUTE);
  expectAbout(await left('acme:until'), 3 * HOUR + MINUTE);
});
