import { afterAll, beforeAll, expect, test } from 'vitest';
import { listed } from '../../src/store/listed.ts';
import { startTestRedis, type TestRedis } from '../flows/redis.ts';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
  await redis.client.zadd('list', 5, 'old', 10, 'first', 15, 'middle', 20, 'last', 25, 'ahead');
});
afterAll(() => redis.close());

test('everything, oldest first', async () => {
  expect(await listed(redis.client, 'list')).toEqual(['old', 'first', 'middle', 'last', 'ahead']);
});

test('without what came in the span, both ends included', async () => {
  expect(await listed(redis.client, 'list', { fromMs: 10, toMs: 20 })).toEqual(['old', 'ahead']);
});
