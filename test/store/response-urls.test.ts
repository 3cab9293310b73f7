import { beforeAll, expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { createResponseUrlStore, type ResponseUrlStore } from '../../src/store/response-urls.ts';
import { redisForTests } from '../support/redis.ts';

const ADDRESS = 'https://hooks.example/commands/s3cret';

const redis = redisForTests();
let responseUrls: ResponseUrlStore;
beforeAll(() => {
  responseUrls = createResponseUrlStore(redis.client);
});

test('the address of a request is found by it, and by no other', async () => {
  await responseUrls.put('1.2.a', ADDRESS);
  expect(await responseUrls.find('1.2.a')).toBe(ADDRESS);
  expect(await responseUrls.find('1.2.b')).toBeUndefined();
});

test('it is kept for as long as Slack honours it, and no longer', async () => {
  await responseUrls.put('1.2.a', ADDRESS);
  const livesMs = await redis.client.pttl(keys.responseUrl('1.2.a'));
  expect(livesMs).toBeLessThanOrEqual(retention.responseUrlMs);
  expect(livesMs).toBeGreaterThan(retention.responseUrlMs - 30_000);
  await redis.client.pexpire(keys.responseUrl('1.2.a'), 0);
  expect(await responseUrls.find('1.2.a')).toBeUndefined();
});
