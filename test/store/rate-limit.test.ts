import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRateLimitStore, type RateLimit, type RateLimitStore } from '../../src/store/rate-limit.ts';
import { redisForTests } from '../support/redis.ts';
import { timePasses } from '../support/store/limits.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
/** A test takes less than that. */
const SOON = 5000;

const redis = redisForTests();
let limits: RateLimitStore;
beforeAll(() => {
  limits = createRateLimitStore(redis.client);
});

const passes = (of: RateLimit, ms: number) => timePasses(redis.client, of.name, ms);
const setBack = (of: RateLimit, ms: number) => timePasses(redis.client, of.name, -ms);
const take = (of: RateLimit, id: string, priority?: 'interactive' | 'low') =>
  limits.takeSlot(of, { id, ...(priority && { priority }) });

async function takeAll(of: RateLimit, ...ids: string[]): Promise<number[]> {
  const waits: number[] = [];
  for (const id of ids) waits.push(await take(of, id));
  return waits;
}

function expectAbout(ms: number | undefined, wanted: number) {
  expect(ms).toBeGreaterThan(wanted - SOON);
  expect(ms).toBeLessThanOrEqual(wanted + 1);
}

/** Both kinds of limits, with three slots an hour. */
const kinds: [string, RateLimit][] = [
  ['in a window', { name: 'window', count: 3, windowMs: HOUR }],
  ['one by one', { name: 'spaced', count: 3, windowMs: 3 * HOUR, burst: 3 }],
];

describe.each(kinds)('slots %s', (_, three) => {
  test('are free until the count is taken; then each request reserves the next one', async () => {
    expect(await takeAll(three, 'a', 'b', 'c')).toEqual([0, 0, 0]);
    const waits = await takeAll(three, 'd', 'e', 'f', 'g');
    const gap = three.burst === undefined ? 0 : HOUR;
    for (const [index, wait] of waits.slice(0, 3).entries()) expectAbout(wait, HOUR + index * gap);
    expectAbout(waits[3], three.burst === undefined ? 2 * HOUR : 4 * HOUR);
  });

  test('a reservation stays the same however often it is asked for, and is taken at its time', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd', 'e');
    for (let times = 0; times < 3; times += 1) expectAbout(await take(three, 'd'), HOUR);
    await passes(three, HOUR);
    expect(await take(three, 'd')).toBe(0);
  });

  test('a reservation whose requester died is given up', async () => {
    await takeAll(three, 'a', 'b', 'c', 'dead');
    await passes(three, 2 * HOUR);
    expect((await limits.usage(three)).waiting).toBe(0);
    expect(await take(three, 'late')).toBe(0);
  });

  test('a hold gives none before its end, also to those with a reservation, and then not all at once', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd');
    await limits.hold(three, 10 * HOUR);
    await limits.hold(three, HOUR);
    await passes(three, 2 * HOUR);
    expectAbout(await take(three, 'd'), 8 * HOUR);
    await passes(three, 8 * HOUR);
    expect(await take(three, 'd')).toBe(0);
    const more = await takeAll(three, 'e', 'f', 'g', 'h');
    expect(more.filter((wait) => wait === 0).length).toBeLessThan(3);
  });

  test('when the clock of Redis is set back, nobody waits for longer than before', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd');
    await setBack(three, 100 * HOUR);
    const wait = await take(three, 'e');
    expect(wait).toBeLessThanOrEqual(three.burst === undefined ? HOUR : 4 * HOUR);
    await limits.hold(three, 10 * HOUR);
    await setBack(three, 100 * HOUR);
    expect(await take(three, 'e')).toBeLessThanOrEqual(4 * HOUR);
  });

  test('usage counts what is taken and reserved, and when the next slot comes', async () => {
    expect(await limits.usage(three)).toEqual({ used: 0, free: 3, waiting: 0, nextMs: 0 });
    await take(three, 'a');
    expect(await limits.usage(three)).toEqual({ used: 1, free: 2, waiting: 0, nextMs: 0 });
    await takeAll(three, 'b', 'c', 'd');
    const usage = await limits.usage(three);
    expect(usage).toMatchObject({ used: 3, free: 0, waiting: 1 });
    expect(usage.nextMs).toBeGreaterThan(0);
  });

  test('everything of a limit ends by itself', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd');
    await limits.hold(three, HOUR);
    for (const key of await redis.client.keys('*:limit:*')) {
      expect(await redis.client.pttl(key)).toBeGreaterThan(0);
      expect(await redis.client.pttl(key)).toBeLessThanOrEqual(5 * HOUR);
    }
  });

  test('one limit does not know of another', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd');
    expect(await take({ ...three, name: 'other' }, 'a')).toBe(0);
  });
});

describe('in a window', () => {
  const three: RateLimit = { name: 'acme', count: 3, windowMs: HOUR };

  test('the same slot counts once, at its last time', async () => {
    await takeAll(three, 'a', 'a', 'a', 'b');
    expect((await limits.usage(three)).used).toBe(2);
    await passes(three, 0.75 * HOUR);
    await take(three, 'a');
    await passes(three, 0.5 * HOUR);
    expect((await limits.usage(three)).used).toBe(1);
  });

  test('a slot whose call did not happen is free again, and so is a reservation', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd');
    await limits.releaseSlot(three, 'd');
    expect((await limits.usage(three)).waiting).toBe(0);
    await limits.releaseSlot(three, 'b');
    expect(await take(three, 'e')).toBe(0);
  });

  test('never more than the count in any window, whatever is asked for, held and released', async () => {
    const action = fc.oneof(
      fc.record({ take: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ passMs: fc.integer({ min: 0, max: HOUR }) }),
      fc.record({ holdMs: fc.integer({ min: 1, max: HOUR }) }),
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const of: RateLimit = { ...three, name: `property ${count++}` };
        let atMs = 0;
        let rounds = 0;
        const uses: number[] = [];
        for (const one of actions) {
          if ('passMs' in one) {
            await passes(of, one.passMs);
            atMs += one.passMs;
          } else if ('holdMs' in one) await limits.hold(of, one.holdMs);
          else if ((await take(of, `${one.take} ${rounds}`)) === 0) {
            uses.push(atMs);
            rounds += 1;
          }
        }
        // The real clock moves, too, by some milliseconds.
        for (const [index, use] of uses.slice(3).entries())
          expect(use - (uses[index] ?? 0)).toBeGreaterThan(HOUR - SOON);
      }),
      { numRuns: 40 },
    );
  });
});

describe('one by one', () => {
  test('never more than the burst and what the rate has given back since, however many ask at once', async () => {
    let names = 0;
    const some = fc.record({
      count: fc.integer({ min: 1, max: 60_000 }),
      burst: fc.integer({ min: 1, max: 20 }),
      interactiveShare: fc.constantFrom(0, 0.2, 0.5),
      asked: fc.integer({ min: 1, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(some, async ({ count, burst, interactiveShare, asked }) => {
        const of: RateLimit = { name: `p${names++}`, count, windowMs: MINUTE, burst, interactiveShare };
        const from = performance.now();
        const ids = Array.from({ length: asked }, (_, index) => `${index}`);
        const waits = await Promise.all(ids.map((id) => take(of, id)));
        const tookMs = performance.now() - from;
        const given = waits.filter((wait) => wait === 0).length;
        // With a share, each of the two lanes has one slot at least.
        const most = interactiveShare > 0 ? Math.max(2, burst) : burst;
        expect(given).toBeLessThanOrEqual(most + Math.ceil((tookMs * count) / MINUTE) + 1);
        expect(given).toBeGreaterThanOrEqual(Math.min(asked, burst));
      }),
      { numRuns: 60 },
    );
  });

  test('a limit that was left alone has its burst, and no more', async () => {
    const five: RateLimit = { name: 'five', count: 1, windowMs: HOUR, burst: 5 };
    await takeAll(five, 'a', 'b', 'c', 'd', 'e');
    await passes(five, 100 * HOUR);
    const waits = await takeAll(five, 'f', 'g', 'h', 'i', 'j', 'k');
    expect(waits.map((wait) => wait === 0)).toEqual([true, true, true, true, true, false]);
  });

  test('gives a slot at every rate, also where the gap is no whole number', async () => {
    const rates = Array.from({ length: 600 }, (_, index) => index + 1);
    const waits = await Promise.all(
      rates.map((count) => take({ name: `rate${count}`, count, windowMs: MINUTE, burst: 1 }, 'a')),
    );
    expect(waits.filter((wait) => wait !== 0)).toHaveLength(0);
  });
});

describe('low priority', () => {
  const edits: RateLimit = { name: 'edits', count: 2, windowMs: HOUR, burst: 4, interactiveShare: 0.5 };

  test('leaves the interactive share to others, however much of it waits', async () => {
    for (let index = 0; index < 50; index += 1) await take(edits, `low ${index}`, 'low');
    expect(await takeAll(edits, 'a', 'b')).toEqual([0, 0]);
    expectAbout(await take(edits, 'c'), HOUR);
    expect(await take(edits, 'one more', 'low')).toBeGreaterThan(40 * HOUR);
  });

  test('interactive requests take all slots while nothing else wants them', async () => {
    expect(await takeAll(edits, 'a', 'b', 'c', 'd')).toEqual([0, 0, 0, 0]);
    expect(await take(edits, 'low', 'low')).toBeGreaterThan(0);
  });

  test('a reservation of low priority that becomes interactive gets the sooner slot', async () => {
    for (let index = 0; index < 10; index += 1) await take(edits, `low ${index}`, 'low');
    expect(await take(edits, 'low 9')).toBe(0);
  });
});
