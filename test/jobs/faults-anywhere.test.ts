import type { Redis } from 'ioredis';
import { beforeAll, expect, test } from 'vitest';
import { onTestClock } from '../support/jobs/faults/redis.ts';
import { playWithFaults } from '../support/jobs/faults/scenarios.ts';
import { redisForTests } from '../support/redis.ts';

const { FAULT_SEED, FAULT_RUNS = '300' } = process.env;

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
// Calls that happen at once come in another order while Redis learns its scripts, so one run follows some others.
const seeds = FAULT_SEED ? [...upTo(40), Number(FAULT_SEED)] : upTo(Number(FAULT_RUNS));
const timeout = 120_000 + 200 * seeds.length;

const server = redisForTests();
const clock = { ms: 0 };
let redis: Redis;
beforeAll(async () => {
  // Nothing kills this Redis, so its disk proves nothing.
  await server.client.config('SET', 'appendonly', 'no');
  redis = onTestClock(server.client, clock);
});

test('no fault at any await of a step loses, repeats or blocks anything', { timeout }, async () => {
  const failures: string[] = [];
  for (const seed of seeds) {
    const { name, faults, problems } = await playWithFaults(redis, clock, seed);
    if (String(seed) === FAULT_SEED) console.log([name, ...faults].join('\n'));
    if (problems.length > 0)
      failures.push([`FAULT_SEED=${seed} (${name})`, ...faults, ...problems].join('\n  '));
  }
  expect(failures.slice(0, 3).join('\n'), `${failures.length} of ${seeds.length} runs`).toBe('');
});
