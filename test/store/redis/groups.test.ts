import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { checkRedis } from '../../../src/store/redis/check.ts';
import type { RedisClient } from '../../../src/store/redis/client.ts';
import { askTime } from '../../../src/store/redis/clock.ts';
import { connectForRequests, connectForWork } from '../../../src/store/redis/connections.ts';
import { type RedisGroup, startCluster, startSentinels } from '../../support/store/redis-groups.ts';

const starts = { sentinel: () => startSentinels(), cluster: () => startCluster(2) };
const kinds = { requests: connectForRequests, work: connectForWork };
const errors: Error[] = [];

async function connected(url: string, kind: keyof typeof kinds): Promise<RedisClient> {
  const connection = kinds[kind]({ url }, defaultTiming, (error) => errors.push(error));
  onTestFinished(() => connection.disconnect());
  if (connection.status !== 'ready') await once(connection, 'ready');
  return connection;
}

describe.for(['sentinel', 'cluster'] as const)('with %s', (how) => {
  let group: RedisGroup;
  beforeAll(async () => {
    group = await starts[how]();
  }, 60_000);
  afterAll(() => group.close());

  test('nothing is wrong', async () => {
    expect(await checkRedis({ url: group.url })).toEqual([]);
  });

  test('a primary that is killed is followed to the one that takes over', async () => {
    const [requests, work] = [await connected(group.url, 'requests'), await connected(group.url, 'work')];
    const before = await group.primary();
    expect(await askTime(requests)).toBeGreaterThan(1e12);
    await work.set('{docket}:a', '1');
    await before.kill();
    const waits = work.incr('{docket}:a');
    await expect(requests.get('{docket}:a')).rejects.toThrow();
    await expect.poll(() => requests.get('{docket}:a').catch(String), { timeout: 15_000 }).toBe('2');
    expect(await waits).toBe(2);
    expect((await group.primary()).port).not.toBe(before.port);
  }, 40_000);
});
