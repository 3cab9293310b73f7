import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { createPaceStore, type Pace, type PaceStore } from '../../src/store/pace.ts';
import { startTestRedis, type TestRedis } from '../flows/redis.ts';

let redis: TestRedis;
let pace: PaceStore;
beforeAll(async () => {
  redis = await startTestRedis();
  pace = createPaceStore(redis.client);
});
beforeEach(() => redis.client.flushall());
afterAll(() => redis.close());

/** Five at once, one an hour after that: whatever a test takes, no turn comes back meanwhile. */
const slow: Pace = { bucket: 'b', perMinute: 1 / 60, burst: 5 };
const HOUR = 3_600_000;

/** Lets time pass for a bucket: what is kept is the moment when it will be full again. */
async function passes(bucket: string, ms: number) {
  await redis.client.incrbyfloat(keys.pace(bucket), -ms);
}

async function takeMany(of: Pace, times: number, spare = 0) {
  const waits: number[] = [];
  for (let time = 0; time < times; time++) waits.push(await pace.take(of, spare));
  return waits;
}

test('as many turns at once as the burst, then how long to wait', async () => {
  const waits = await takeMany(slow, 7);
  expect(waits.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  for (const wait of waits.slice(5)) {
    expect(wait).toBeGreaterThan(HOUR - 60_000);
    expect(wait).toBeLessThanOrEqual(HOUR);
  }
});

test('a turn that was not given costs nothing: the wait does not grow', async () => {
  const waits = await takeMany(slow, 50);
  expect(waits.at(-1)).toBeLessThanOrEqual(waits[5] ?? 0);
});

test('after the wait there is one turn, and not two', async () => {
  const wait = (await takeMany(slow, 6)).at(-1) ?? 0;
  await passes('b', wait - 60_000);
  expect(await pace.take(slow, 0)).toBeGreaterThan(0);
  await passes('b', 60_000);
  expect(await pace.take(slow, 0)).toBe(0);
  expect(await pace.take(slow, 0)).toBeGreaterThan(HOUR - 60_000);
});

test('a bucket that was left alone is full, and not more than full', async () => {
  await takeMany(slow, 5);
  await passes('b', 100 * HOUR);
  expect((await takeMany(slow, 10)).filter((wait) => wait === 0)).toHaveLength(5);
});

test('never more turns than the burst and what the rate has given back since, however many ask at once', async () => {
  let buckets = 0;
  const some = fc.record({
    perMinute: fc.integer({ min: 1, max: 60_000 }),
    burst: fc.integer({ min: 1, max: 20 }),
    asked: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(some, async ({ perMinute, burst, asked }) => {
      const of: Pace = { bucket: `p${buckets++}`, perMinute, burst };
      const from = await time();
      const waits = await Promise.all(Array.from({ length: asked }, () => pace.take(of, 0)));
      const tookMs = (await time()) - from;
      const given = waits.filter((wait) => wait === 0).length;
      expect(given).toBeLessThanOrEqual(burst + Math.floor((tookMs * perMinute) / 60_000) + 1);
      expect(given).toBeGreaterThanOrEqual(Math.min(asked, burst));
      for (const wait of waits) expect(wait).toBeLessThanOrEqual(Math.ceil(60_000 / perMinute));
    }),
    { numRuns: 60 },
  );
});

async function time(): Promise<number> {
  const [seconds, micros] = await redis.client.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

test('an untouched bucket gives a turn at every rate, also where the gap is no whole number', async () => {
  const rates = Array.from({ length: 600 }, (_, index) => index + 1);
  const waits = await Promise.all(
    rates.map((perMinute) => pace.take({ bucket: `rate${perMinute}`, perMinute, burst: 1 }, 0)),
  );
  expect(waits.filter((wait) => wait !== 0)).toHaveLength(0);
});

describe('spare turns', () => {
  test('are left for whoever is more urgent', async () => {
    expect((await takeMany(slow, 5, 3)).filter((wait) => wait === 0)).toHaveLength(2);
    expect((await takeMany(slow, 5, 1)).filter((wait) => wait === 0)).toHaveLength(2);
    expect((await takeMany(slow, 5, 0)).filter((wait) => wait === 0)).toHaveLength(1);
  });

  test('come back for the most urgent first', async () => {
    await takeMany(slow, 5);
    const [urgent = 0] = await takeMany(slow, 1, 0);
    const [patient = 0] = await takeMany(slow, 1, 2);
    expect(Math.round((patient - urgent) / HOUR)).toBe(2);
  });
});

describe('after a refusal by the other side', () => {
  test('no turn is given before the wait is over, and one is given after it', async () => {
    await pace.hold(slow, 10 * HOUR);
    const wait = await pace.take(slow, 0);
    expect(wait).toBeGreaterThan(10 * HOUR - 60_000);
    expect(wait).toBeLessThanOrEqual(10 * HOUR);
    await passes('b', wait);
    expect(await pace.take(slow, 0)).toBe(0);
    expect(await pace.take(slow, 0)).toBeGreaterThan(0);
  });

  test('a shorter hold does not undo a longer one', async () => {
    await pace.hold(slow, 10 * HOUR);
    await pace.hold(slow, HOUR);
    expect(await pace.take(slow, 0)).toBeGreaterThan(9 * HOUR);
  });

  test('a hold that is shorter than the wait anyway changes nothing', async () => {
    await takeMany(slow, 5);
    await pace.hold(slow, 1000);
    expect(await pace.take(slow, 0)).toBeGreaterThan(HOUR - 60_000);
  });
});

test('one bucket does not know of another', async () => {
  await takeMany(slow, 5);
  expect(await pace.take({ ...slow, bucket: 'other' }, 0)).toBe(0);
});

test('a bucket is forgotten once it is full again', async () => {
  await pace.take(slow, 0);
  const livesMs = await redis.client.pttl(keys.pace('b'));
  expect(livesMs).toBeLessThanOrEqual(HOUR);
  expect(livesMs).toBeGreaterThan(HOUR - 60_000);
});
