import { beforeAll, expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { createLinkStore, type LinkStore } from '../../src/store/links.ts';
import { redisForTests } from '../support/redis.ts';

const ADDRESS = 'https://bundles.example/b.zip?X-Signature=s3cret';

const redis = redisForTests();
let links: LinkStore;
beforeAll(() => {
  links = createLinkStore(redis.client);
});

async function nowMs(): Promise<number> {
  const [seconds, micros] = await redis.client.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

test('a link is there until it ends, to the millisecond', async () => {
  const endsAtMs = Math.round(await nowMs()) + 3_600_000;
  await links.put('l1', ADDRESS, endsAtMs);
  expect(await links.get('l1')).toBe(ADDRESS);
  const before = await nowMs();
  const livesMs = await redis.client.pttl(keys.link('l1'));
  const after = await nowMs();
  expect(livesMs + after).toBeGreaterThanOrEqual(endsAtMs - 1);
  expect(livesMs + before).toBeLessThanOrEqual(endsAtMs + 1);
});

test('a link that has ended is gone, and takes an older one of its name along', async () => {
  await links.put('l1', ADDRESS, Math.round(await nowMs()) + 3_600_000);
  await links.put('l1', ADDRESS, Math.floor(await nowMs()) - 1);
  expect(await links.get('l1')).toBeUndefined();
  expect(await redis.client.keys('*')).toEqual([]);
});

test('a newer link takes the place of an older one, with its own end', async () => {
  const now = Math.round(await nowMs());
  await links.put('l1', ADDRESS, now + 60_000);
  await links.put('l1', `${ADDRESS}2`, now + 3_600_000);
  expect(await links.get('l1')).toBe(`${ADDRESS}2`);
  expect(await redis.client.pttl(keys.link('l1'))).toBeGreaterThan(60_000);
});

test('an unknown link is nothing', async () => {
  expect(await links.get('never')).toBeUndefined();
});
