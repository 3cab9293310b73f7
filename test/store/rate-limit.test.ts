import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRateLimitStore, type RateLimit, type RateLimitStore } from '../../src/store/rate-limit.ts';
import { redisForTests } from '../support/redis.ts';
import { timePasses } from '../support/store/limits.ts';

const HOUR = 3_600_000;
/** A test takes less than that. */
const SOON = 5000;

const redis = redisForTests();
let limits: RateLimitStore;
beforeAll(() => {
  limits = createRateLimitStore(redis.client);
});

const passes = (of: RateLimit, ms: number) => timePasses(redis.client, of.name, ms);
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

const three: RateLimit = { name: 'acme', count: 3, windowMs: HOUR };

describe('slots', () => {
  test('are free until the count is taken; then each request reserves the next one', async () => {
    expect(await takeAll(three, 'a', 'b', 'c')).toEqual([0, 0, 0]);
    const waits = await takeAll(three, 'd', 'e', 'f', 'g');
    for (const [index, wait] of waits.entries()) expectAbout(wait, index < 3 ? HOUR : 2 * HOUR);
  });

  test('a reservation stays the same however often it is asked for, and is taken at its time', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd', 'e');
    for (let times = 0; times < 3; times += 1) expectAbout(await take(three, 'd'), HOUR);
    await passes(three, HOUR);
    expect(await take(three, 'd')).toBe(0);
  });

  test('a hold gives none before its end, also to those with a reservation', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd');
    await limits.hold(three, 10 * HOUR);
    await limits.hold(three, HOUR);
    await passes(three, 2 * HOUR);
    expectAbout(await take(three, 'd'), 8 * HOUR);
    await passes(three, 8 * HOUR);
    expect(await takeAll(three, 'd', 'e', 'f')).toEqual([0, 0, 0]);
    expectAbout(await take(three, 'g'), HOUR);
  });

  test('when the clock of Redis is set back, nobody waits for longer than before', async () => {
    await takeAll(three, 'a', 'b', 'c', 'd');
    await passes(three, -100 * HOUR);
    expect(await take(three, 'e')).toBeLessThanOrEqual(HOUR);
    await limits.hold(three, 10 * HOUR);
    await passes(three, -100 * HOUR);
    expect(await take(three, 'e')).toBeLessThanOrEqual(4 * HOUR);
  });

  test('are taken again by the same requester, unless a slot belongs to its id', async () => {
    expect(await takeAll(three, 'a', 'a', 'a')).toEqual([0, 0, 0]);
    expect(await take(three, 'a')).toBeGreaterThan(0);
    const owned: RateLimit = { ...three, name: 'owned', perId: true };
    expect(await takeAll(owned, 'a', 'a', 'a', 'b')).toEqual([0, 0, 0, 0]);
    expect((await limits.usage(owned)).used).toBe(2);
    await passes(owned, 0.75 * HOUR);
    await take(owned, 'a');
    await passes(owned, 0.5 * HOUR);
    expect((await limits.usage(owned)).used).toBe(1);
  });

  test('a slot whose call did not happen is free again, and so is a reservation', async () => {
    const owned: RateLimit = { ...three, perId: true };
    await takeAll(owned, 'a', 'b', 'c', 'd');
    await limits.releaseSlot(owned, 'd');
    expect((await limits.usage(owned)).waiting).toBe(0);
    await limits.releaseSlot(owned, 'b');
    expect(await take(owned, 'e')).toBe(0);
  });

  test('never more than the count in any window, whatever is asked for, held and released', async () => {
    const action = fc.oneof(
      fc.record({ take: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ passMs: fc.integer({ min: 0, max: HOUR }) }),
      fc.record({ holdMs: fc.integer({ min: 1, max: HOUR }) }),
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), fc.boolean(), async (actions, perId) => {
        const of: RateLimit = { ...three, name: `property ${count++}`, perId };
        let atMs = 0;
        const uses: number[] = [];
        for (const one of actions) {
          if ('passMs' in one) {
            await passes(of, one.passMs);
            atMs += one.passMs;
          } else if ('holdMs' in one) await limits.hold(of, one.holdMs);
          else if ((await take(of, `${one.take}${perId ? ` ${uses.length}` : ''}`)) === 0) uses.push(atMs);
        }
        // The real clock moves, too, by some milliseconds.
        for (const [index, use] of uses.slice(3).entries())
          expect(use - (uses[index] ?? 0)).toBeGreaterThan(HOUR - SOON);
      }),
      { numRuns: 40 },
    );
  });
});

describe('low priority', () => {
  const edits: RateLimit = { name: 'edits', count: 4, windowMs: 2 * HOUR, interactiveShare: 0.5 };

  test('leaves the interactive share to others, however much of it waits', async () => {
    for (let index = 0; index < 50; index += 1) await take(edits, `low ${index}`, 'low');
    expect(await takeAll(edits, 'a', 'b')).toEqual([0, 0]);
    expectAbout(await take(edits, 'c'), 2 * HOUR);
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
