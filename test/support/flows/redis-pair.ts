import { expect, onTestFinished } from 'vitest';
import { startTestRedis, type TestRedis } from '../redis.ts';

export interface RedisPair {
  primary: TestRedis;
  replica: TestRedis;
  /** The replica becomes the primary, and the old primary lives on as its replica. */
  swap(): Promise<void>;
}

/** A primary, and a replica that has its data, for one test. */
export async function startRedisPair(): Promise<RedisPair> {
  const [primary, replica] = await Promise.all([startTestRedis(), startTestRedis()]);
  onTestFinished(async () => void (await Promise.all([primary.close(), replica.close()])));
  await primary.client.config('SET', 'repl-diskless-sync-delay', '0');
  await replica.client.replicaof('127.0.0.1', portOf(primary));
  await expect
    .poll(() => replica.client.info('replication'), { timeout: 20_000 })
    .toContain('master_link_status:up');
  // A replica that has just begun to follow takes up to a second for its first acknowledgement.
  await primary.client.set('first', 1);
  await primary.client.del('first');
  expect(await primary.client.wait(1, 20_000)).toBe(1);
  return {
    primary,
    replica,
    async swap() {
      await replica.client.replicaof('NO', 'ONE');
      await primary.client.replicaof('127.0.0.1', portOf(replica));
    },
  };
}

const portOf = ({ url }: TestRedis) => new URL(url).port;
