import type { Redis } from 'ioredis';
import { afterEach, expect, test, vi } from 'vitest';
import { createClock } from '../../../src/store/redis/clock.ts';

const MACHINE_MS = 1_000_000;
const REDIS_S = 5_000;

let stopping = new AbortController();
let monotonicMs = 0;
let asked = 0;
afterEach(() => stopping.abort());

/**
 * A clock of a machine that is far behind; each answer of Redis takes so long, or never comes. The first question waits
 * for so long until Redis is there.
 */
function aClock(answers: (number | Error)[], everyMs = 3_600_000, awayMs = 0) {
  monotonicMs = 0;
  asked = 0;
  const redis = {
    async evalsha() {
      const answer = answers[Math.min(asked, answers.length - 1)] ?? 0;
      asked += 1;
      if (answer instanceof Error) throw answer;
      if (asked === 1) monotonicMs += awayMs;
      monotonicMs += answer / 2;
      const timeMs = REDIS_S * 1000 + monotonicMs;
      monotonicMs += answer / 2;
      return [Math.floor(timeMs / 1000), (timeMs % 1000) * 1000];
    },
  };
  stopping = new AbortController();
  const clock = createClock({
    ...{ everyMs, machineMs: () => MACHINE_MS, monotonicMs: () => monotonicMs, stopping: stopping.signal },
  });
  return { clock, following: clock.startSync(redis as unknown as Redis) };
}

test('the time is that of Redis, and goes on by itself', async () => {
  const { clock: one, following } = aClock([0]);
  await following;
  expect(one.now()).toBe(REDIS_S * 1000);
  monotonicMs += 1234.4;
  expect(one.now()).toBe(REDIS_S * 1000 + 1234);
});

test('until Redis has answered it is that of the machine, and Redis is asked again soon', async () => {
  const { clock: one, following } = aClock([new Error('away'), new Error('away'), 0], 20);
  expect(one.now()).toBe(MACHINE_MS);
  await following;
  expect(asked).toBeGreaterThanOrEqual(3);
  expect(one.now()).toBe(REDIS_S * 1000);
});

test('a Redis that was away for long at the start sets the clock no further ahead than it is', async () => {
  const { clock: one, following } = aClock([20], 20, 3_600_000);
  await following;
  const redisMs = () => REDIS_S * 1000 + monotonicMs;
  expect(redisMs() - one.now()).toBe(10);
  await vi.waitUntil(() => asked > 1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(one.now()).toBe(redisMs());
});
