import type { Redis } from 'ioredis';
import { beforeAll, expect, test } from 'vitest';
import { playDeployments } from '../support/jobs/deployment/model/play.ts';
import { onTestClock } from '../support/jobs/faults/redis.ts';
import { redisForTests } from '../support/redis.ts';

const { FAULT_SEED, FAULT_RUNS = '300' } = process.env;

const seeds = FAULT_SEED
  ? [Number(FAULT_SEED)]
  : Array.from({ length: Number(FAULT_RUNS) }, (_, index) => index + 1);
const timeout = 120_000 + 1500 * seeds.length;

const server = redisForTests();
const clock = { ms: 0 };
let redis: Redis;
beforeAll(async () => {
  // Nothing kills this Redis, so its disk proves nothing.
  await server.client.config('SET', 'appendonly', 'no');
  redis = onTestClock(server.client, clock);
});

test('Slack says what deployments have, whatever they answer and people click', { timeout }, async () => {
  const failures: string[] = [];
  for (const seed of seeds) {
    const { name, faults, problems } = await playDeployments(redis, clock, seed);
    if (FAULT_SEED) console.log([name, ...faults].join('\n'));
    if (problems.length > 0)
      failures.push([`FAULT_SEED=${seed} (${name})`, ...faults, ...problems].join('\n  '));
  }
  expect(failures.slice(0, 3).join('\n'), `${failures.length} of ${seeds.length} runs`).toBe('');
});
