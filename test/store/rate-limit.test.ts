import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import {
  createRateLimitStore,
  type RateLimit,
  type RateLimitStore,
  type SlotRequest,
} from '../../src/store/rate-limit.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
let limits: RateLimitStore;
beforeAll(() => {
  limits = createRateLimitStore(redis.client);
});

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** Five at once, one an hour after that: whatever a test takes, no turn comes back meanwhile. */
const slow = { name: 'b', count: 1, windowMs: HOUR, burst: 5 };

/** Longer waits are told in parts. */
const LONGEST = 5000;

/** Lets time pass for a bucket: what is kept is the moment when it will be full again. */
async function passes(name: string, ms: number) {
  await redis.client.incrbyfloat(keys.spacedLimit(name), -ms);
  const hold = keys.spacedLimit(`${name}:hold`);
  if (await redis.client.exists(hold)) await redis.client.hincrbyfloat(hold, 'full', -ms);
}

/** The clock of Redis is set back: what is kept lies that far ahead. */
async function setBack(name: string, ms: number) {
  await passes(name, -ms);
  const hold = keys.spacedLimit(`${name}:hold`);
  if (await redis.client.exists(hold)) await redis.client.hincrbyfloat(hold, 'since', ms);
  const gone = keys.spacedLimit(`${name}:until`);
  for (const of of await redis.client.zrange(gone, '0', '-1')) await redis.client.zincrby(gone, ms, of);
}

/** When the next turn is free, in milliseconds from now, for somebody who is first in the line. */
async function freeIn({ name, count, windowMs, burst = 1 }: RateLimit): Promise<number> {
  const kept = [
    await redis.client.get(keys.spacedLimit(name)),
    await redis.client.hget(keys.spacedLimit(`${name}:hold`), 'full'),
  ];
  const full = Math.max(...kept.map(Number));
  return full - (await time()) + (1 - burst) * (windowMs / count);
}

/** Somebody new, unless they are named. */
let askers = 0;
const somebody = (more: Partial<SlotRequest> = {}): SlotRequest => ({
  id: `asker ${askers++}`,
  rank: 0,
  sinceMs: 0,
  ...more,
});
const take = (of: RateLimit, more: Partial<SlotRequest> = {}) => limits.takeSlot(of, somebody(more));

/** The same one asks again and again. */
async function takeMany(of: RateLimit, times: number) {
  const waits: number[] = [];
  for (let time = 0; time < times; time++) waits.push(await take(of, { id: 'the same' }));
  return waits;
}

test('as many slots at once as the burst, then how long to wait', async () => {
  expect(await takeMany(slow, 7)).toEqual([0, 0, 0, 0, 0, LONGEST, LONGEST]);
  expect(await freeIn(slow)).toBeGreaterThan(HOUR - 60_000);
  expect(await freeIn(slow)).toBeLessThanOrEqual(HOUR);
});

test('a slot that was not given costs nothing: the wait does not grow', async () => {
  await takeMany(slow, 50);
  expect(await freeIn(slow)).toBeLessThanOrEqual(HOUR);
});

test('after the wait there is one slot, and not two', async () => {
  await takeMany(slow, 6);
  await passes('b', (await freeIn(slow)) - 60_000);
  expect(await take(slow, { id: 'the same' })).toBe(LONGEST);
  await passes('b', 60_000);
  expect(await take(slow, { id: 'the same' })).toBe(0);
  expect(await take(slow, { id: 'the same' })).toBe(LONGEST);
});

test('a bucket that was left alone is full, and not more than full', async () => {
  await takeMany(slow, 5);
  await passes('b', 100 * HOUR);
  expect((await takeMany(slow, 10)).filter((wait) => wait === 0)).toHaveLength(5);
});

test('never more slots than the burst and what the rate has given back since, however many ask at once', async () => {
  let limitCount = 0;
  const some = fc.record({
    count: fc.integer({ min: 1, max: 60_000 }),
    burst: fc.integer({ min: 1, max: 20 }),
    asked: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(some, async ({ count, burst, asked }) => {
      const of: RateLimit = { name: `p${limitCount++}`, count, windowMs: MINUTE, burst };
      const from = await time();
      const waits = await Promise.all(Array.from({ length: asked }, () => take(of)));
      const tookMs = (await time()) - from;
      const given = waits.filter((wait) => wait === 0).length;
      expect(given).toBeLessThanOrEqual(burst + Math.floor((tookMs * count) / MINUTE) + 1);
      expect(given).toBeGreaterThanOrEqual(Math.min(asked, burst));
      for (const wait of waits) expect(wait).toBeLessThanOrEqual(LONGEST);
    }),
    { numRuns: 60 },
  );
});

/** In whole milliseconds, as the scripts have it. */
async function time(): Promise<number> {
  const [seconds, micros] = await redis.client.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

test('who leaves slots for others has one when the others have theirs as well', async () => {
  const pair = { name: 'pair', count: 1, windowMs: HOUR, burst: 2 };
  const unhurried = () => take(pair, { id: 'unhurried', rank: 3, spare: 1 });
  expect(await unhurried()).toBe(0);
  expect(await unhurried()).toBe(LONGEST);
  expect(await take(pair)).toBe(0);
  await passes('pair', 1.5 * HOUR);
  expect(await unhurried()).toBe(LONGEST);
  await passes('pair', 0.5 * HOUR);
  expect(await unhurried()).toBe(0);
});

test('an untouched bucket gives a slot at every rate, also where the gap is no whole number', async () => {
  const rates = Array.from({ length: 600 }, (_, index) => index + 1);
  const waits = await Promise.all(
    rates.map((count) => take({ name: `rate${count}`, count, windowMs: MINUTE, burst: 1 })),
  );
  expect(waits.filter((wait) => wait !== 0)).toHaveLength(0);
});

describe('those who wait', () => {
  /** One turn an hour, and the first is gone. */
  const hourly = { name: 'h', count: 1, windowMs: HOUR, burst: 1 };
  beforeEach(() => take(hourly));

  /** Lets so many turns come back. */
  const turns = (count: number) => passes('h', count * HOUR);

  async function served(line: SlotRequest[], of = hourly): Promise<string[]> {
    const order: string[] = [];
    for (const turn of line) if ((await limits.takeSlot(of, turn)) === 0) order.push(turn.id);
    return order;
  }

  test('get waits that end one after the other', async () => {
    const quick: RateLimit = { name: 'q', count: 30, windowMs: MINUTE, burst: 1 };
    for (const of of ['first', 'a', 'b']) await take(quick, { id: of, sinceMs: 1 });
    const [a = 0, b = 0] = (await redis.client.zmscore(keys.spacedLimit('q:until'), 'a', 'b')).map(Number);
    expect(Math.abs(b - a - 2000)).toBeLessThanOrEqual(1);
  });

  test('have their slots in order of rank, then of the time since when they wait, whoever asks first', async () => {
    const line: SlotRequest[] = [
      { id: 'urgent', rank: 0, sinceMs: 9000 },
      { id: 'early', rank: 1, sinceMs: 1000 },
      { id: 'late', rank: 1, sinceMs: 2000 },
      { id: 'patient', rank: 2, sinceMs: 1 },
    ];
    await served(line.toReversed());
    for (const [index, { id }] of line.entries()) {
      await turns(1);
      expect(await served(line.slice(index).toReversed())).toEqual([id]);
    }
  });

  test('share the slots that are free at once', async () => {
    const line = ['a', 'b', 'c'].map((of, sinceMs) => somebody({ id: of, sinceMs }));
    await served(line);
    await turns(3);
    const wide = { ...hourly, burst: 2 };
    expect(await served(line.toReversed(), wide)).toEqual(['b', 'a']);
  });

  test('keep the place of their first question', async () => {
    await served([somebody({ id: 'a', sinceMs: 1 }), somebody({ id: 'b', sinceMs: 2 })]);
    await limits.takeSlot(hourly, somebody({ id: 'a', sinceMs: 3 }));
    await turns(1);
    expect(await served([somebody({ id: 'b', sinceMs: 2 }), somebody({ id: 'a', sinceMs: 4 })])).toEqual([
      'a',
    ]);
  });

  test('move up when they become more urgent', async () => {
    const [a, b] = [somebody({ id: 'a', rank: 1 }), somebody({ id: 'b', rank: 1, sinceMs: 1 })];
    await served([a, b, { ...b, rank: 0 }]);
    await turns(1);
    expect(await served([a, b])).toEqual(['b']);
  });

  test('and had a slot stand at the end of the line', async () => {
    const [a, b] = [somebody({ id: 'a', sinceMs: 1 }), somebody({ id: 'b', sinceMs: 2 })];
    await served([a, b]);
    await turns(1);
    expect(await served([a])).toEqual(['a']);
    await turns(1);
    expect(await served([{ ...a, sinceMs: 3 }, b])).toEqual(['b']);
  });

  test('and do not come when their wait ends are not waited for', async () => {
    const [dead, alive] = [somebody({ id: 'dead', sinceMs: 1 }), somebody({ id: 'alive', sinceMs: 2 })];
    await served([dead, alive]);
    await turns(1);
    expect(await served([alive])).toEqual([]);
    const keptMs = Number(await redis.client.zscore(keys.spacedLimit('h:until'), 'dead')) - (await time());
    expect(keptMs).toBeLessThanOrEqual(LONGEST + 1000);
    await redis.client.zincrby(keys.spacedLimit('h:until'), -LONGEST - 1000, 'dead');
    expect(await served([alive])).toEqual(['alive']);
  });

  test('go in turn by person, however many one of them has', async () => {
    const mine = Array.from({ length: 150 }, (_, index) =>
      somebody({ id: `ana ${index}`, sinceMs: index, group: 'U0ANA' }),
    );
    await served(mine);
    const others = ['U0BEN', 'U0CLEO'].flatMap((by, who) =>
      [0, 1].map((index) => somebody({ id: `${by} ${index}`, sinceMs: 1000 + who + 10 * index, group: by })),
    );
    await served(others.toReversed());
    const order: string[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      await turns(1);
      const [next = ''] = await served([...others, ...mine].filter(({ id }) => !order.includes(id)));
      order.push(next);
    }
    expect(order).toEqual(['ana 0', 'U0BEN 0', 'U0CLEO 0', 'ana 1', 'U0BEN 1', 'U0CLEO 1', 'ana 2', 'ana 3']);
  });

  test('have each person’s go by the time since when they wait, whichever asked first', async () => {
    const [early, late] = [1, 2].map((sinceMs) =>
      somebody({ id: `ana ${sinceMs}`, sinceMs, group: 'U0ANA' }),
    );
    if (!early || !late) throw new Error('two');
    await served([late, early]);
    await turns(1);
    expect(await served([late, early])).toEqual(['ana 1']);
  });

  test('are not held up by somebody who has had many slots just now, nor hold them up for it', async () => {
    const ana = (index: number) => somebody({ id: `ana ${index}`, sinceMs: index, group: 'U0ANA' });
    const ben = (index: number) => somebody({ id: `ben ${index}`, sinceMs: 100 + index, group: 'U0BEN' });
    await served([0, 1, 2, 3, 4, 5, 6, 7].map(ana));
    for (let index = 0; index < 4; index += 1) {
      await turns(1);
      expect(await served([4, 5, 6, 7, index].map(ana))).toEqual([`ana ${index}`]);
    }
    await served([0, 1, 2, 3].map(ben));
    const order: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      await turns(1);
      const rest = [...[4, 5, 6, 7].map(ana), ...[0, 1, 2, 3].map(ben)];
      order.push(...(await served(rest.filter(({ id }) => !order.includes(id)))));
    }
    expect(order).toEqual(['ben 0', 'ana 4', 'ben 1', 'ana 5', 'ben 2', 'ana 6']);
  });

  test('leave nothing behind, whether they come back or not', async () => {
    const [a, b] = [somebody(), somebody()];
    await served([a, b]);
    for (const name of ['h:order', 'h:until', 'h:places', 'h:rounds']) {
      const livesMs = await redis.client.pttl(keys.spacedLimit(name));
      expect(livesMs).toBeGreaterThan(0);
      expect(livesMs).toBeLessThanOrEqual(LONGEST + 1000);
    }
    await turns(1);
    await served([a]);
    await turns(1);
    await served([b]);
    for (const name of ['order', 'until', 'places', 'mine'])
      expect(await redis.client.keys(`*:${name}`)).toEqual([]);
    expect(await redis.client.pttl(keys.spacedLimit('h:rounds'))).toBeGreaterThan(0);
  });
});

describe('after a refusal by the other side', () => {
  test('no slot is given before the wait is over, and one is given after it', async () => {
    await limits.hold(slow, 10 * HOUR);
    expect(await take(slow, { id: 'a' })).toBe(LONGEST);
    expect(await freeIn(slow)).toBeGreaterThan(10 * HOUR - 60_000);
    expect(await freeIn(slow)).toBeLessThanOrEqual(10 * HOUR);
    await passes('b', (await freeIn(slow)) + 1);
    expect(await take(slow, { id: 'a' })).toBe(0);
    expect(await take(slow, { id: 'a' })).toBe(LONGEST);
  });

  test('a shorter hold does not undo a longer one', async () => {
    await limits.hold(slow, 10 * HOUR);
    await limits.hold(slow, HOUR);
    expect(await freeIn(slow)).toBeGreaterThan(9 * HOUR);
  });

  test('a hold that is shorter than the wait anyway changes nothing', async () => {
    await takeMany(slow, 5);
    await limits.hold(slow, 1000);
    expect(await freeIn(slow)).toBeGreaterThan(HOUR - 60_000);
  });
});

describe('when the clock of Redis is set back', () => {
  test('nobody waits for longer than an empty bucket takes', async () => {
    await takeMany(slow, 5);
    await setBack('b', 100 * HOUR);
    expect((await limits.usage(slow)).nextMs).toBeGreaterThan(HOUR - 60_000);
    expect((await limits.usage(slow)).nextMs).toBeLessThanOrEqual(HOUR);
  });

  test('a full bucket gives its slots a little later, and not as much later as the clock was set back', async () => {
    const quick: RateLimit = { name: 'q', count: 60, windowMs: MINUTE, burst: 2 };
    await take(quick);
    await setBack('q', HOUR);
    expect(await take(quick)).toBeLessThanOrEqual(1000);
  });

  test('a hold from before ends', async () => {
    await limits.hold(slow, 10 * HOUR);
    expect(await take(slow, { id: 'a' })).toBe(LONGEST);
    await setBack('b', 100 * HOUR);
    expect(await take(slow, { id: 'a' })).toBe(0);
  });

  test('those who left the line before are not waited for', async () => {
    const hourly = { name: 'h', count: 1, windowMs: HOUR, burst: 1 };
    await take(hourly);
    await take(hourly, { id: 'dead', sinceMs: 1 });
    await setBack('h', 100 * HOUR);
    await passes('h', 101 * HOUR);
    expect(await take(hourly, { id: 'alive', sinceMs: 2 })).toBe(0);
  });
});

test('a hold outlasts the slots that were taken before it, and is forgotten when it is over', async () => {
  await takeMany(slow, 2);
  await limits.hold(slow, 10 * HOUR);
  expect((await limits.usage(slow)).nextMs).toBeGreaterThan(9 * HOUR);
  const livesMs = await redis.client.pttl(keys.spacedLimit('b:hold'));
  expect(livesMs).toBeGreaterThan(10 * HOUR);
  expect(livesMs).toBeLessThanOrEqual(14 * HOUR);
});

test('one bucket does not know of another', async () => {
  await takeMany(slow, 6);
  expect(await take({ ...slow, name: 'other' })).toBe(0);
});

test('a bucket is forgotten once it is full again', async () => {
  await take(slow);
  const livesMs = await redis.client.pttl(keys.spacedLimit('b'));
  expect(livesMs).toBeLessThanOrEqual(HOUR);
  expect(livesMs).toBeGreaterThan(HOUR - 60_000);
});

describe('how much is in use', () => {
  test('nothing before the first slot, then the slots that were taken', async () => {
    expect(await limits.usage(slow)).toEqual({ used: 0, free: 5, waiting: 0, nextMs: 0 });
    await takeMany(slow, 2);
    expect(await limits.usage(slow)).toEqual({ used: 2, free: 3, waiting: 0, nextMs: 0 });
    await passes('b', HOUR);
    expect(await limits.usage(slow)).toMatchObject({ free: 4 });
  });

  test('who waits in line, as long as they ask again, and when the next slot is free', async () => {
    await takeMany(slow, 5);
    await take(slow);
    await take(slow);
    const { free, waiting, nextMs } = await limits.usage(slow);
    expect([free, waiting]).toEqual([0, 2]);
    expect(nextMs).toBeGreaterThan(HOUR - 60_000);
    expect(nextMs).toBeLessThanOrEqual(HOUR);
    for (const gone of await redis.client.zrange(keys.spacedLimit('b:until'), '0', '0'))
      await redis.client.zadd(keys.spacedLimit('b:until'), 1, gone);
    expect(await limits.usage(slow)).toMatchObject({ waiting: 1 });
  });

  test('asking for it takes no slot', async () => {
    for (let time = 0; time < 20; time += 1) await limits.usage(slow);
    expect(await takeMany(slow, 6)).toEqual([0, 0, 0, 0, 0, LONGEST]);
  });

  test('none is free while the other side wants to be left alone', async () => {
    await limits.hold(slow, 60_000);
    const { free, nextMs } = await limits.usage(slow);
    expect(free).toBe(0);
    expect(nextMs).toBeGreaterThan(30_000);
    expect(nextMs).toBeLessThanOrEqual(60_000);
  });
});
