import { expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { createThreadStore } from '../../src/store/threads.ts';
import { redisForTests } from '../support/redis.ts';
import { place } from '../support/store/builders.ts';

const redis = redisForTests();

test('a thread is closed for ever, in its own conversation alone', async () => {
  const { close, isClosed } = createThreadStore(redis.client);
  expect(await isClosed(place)).toBe(false);
  await close(place);
  await close(place);
  expect(await isClosed(place)).toBe(true);
  expect(await isClosed({ ...place, channel: 'C0OPS' })).toBe(false);
  expect(await isClosed({ ...place, rootTs: '1789914659.000101' })).toBe(false);
  expect(await redis.client.pttl(keys.closedThreads(place.teamId, place.channel))).toBe(-1);
});

test('of a conversation the 10,000 latest messages are remembered, in whatever order they come', async () => {
  const { close, isClosed } = createThreadStore(redis.client);
  const key = keys.closedThreads(place.teamId, place.channel);
  const tsOf = (n: number) => `${1_789_000_000 + n}.000100`;
  const older = Array.from({ length: 9_999 }, (_, n) => [1_789_000_000.0001 + n, tsOf(n)] as const);
  await redis.client.zadd(key, ...older.flat());
  const thread = (n: number) => ({ ...place, rootTs: tsOf(n) });
  await close(thread(20_000));
  expect(await isClosed(thread(0))).toBe(true);
  await close(thread(15_000));
  expect(await redis.client.zcard(key)).toBe(10_000);
  expect(await isClosed(thread(0))).toBe(false);
  for (const kept of [1, 15_000, 20_000]) expect(await isClosed(thread(kept))).toBe(true);
});
