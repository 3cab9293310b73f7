import { expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { createValueStores } from '../../src/store/values.ts';
import { redisForTests } from '../support/redis.ts';

const ADDRESS = 'https://bundles.example/b.zip?X-Signature=s3cret';

const redis = redisForTests();
const stores = () => createValueStores(redis.client);
const livesMs = (key: string) => redis.client.pttl(key);

async function nowMs(): Promise<number> {
  const [seconds, micros] = await redis.client.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

test('a link expires to the millisecond', async () => {
  const { links } = stores();
  const endsAtMs = Math.round(await nowMs()) + 3_600_000;
  await links.put('l1', ADDRESS, endsAtMs);
  expect(await links.get('l1')).toBe(ADDRESS);
  const before = await nowMs();
  const lives = await livesMs(keys.link('l1'));
  const after = await nowMs();
  expect(lives + after).toBeGreaterThanOrEqual(endsAtMs - 1);
  expect(lives + before).toBeLessThanOrEqual(endsAtMs + 1);
});

test('an expired link replaces an older one of its name', async () => {
  const { links } = stores();
  await links.put('l1', ADDRESS, Math.round(await nowMs()) + 3_600_000);
  await links.put('l1', ADDRESS, Math.floor(await nowMs()) - 1);
  expect(await links.get('l1')).toBeUndefined();
  expect(await redis.client.keys('*')).toEqual([]);
});

test('people who opened their Home tab are remembered for each workspace, and not forever', async () => {
  const { people } = stores();
  await people.markHomeOpened('T0ACME', 'U0ANA');
  expect(await people.whoOpenedHome('T0ACME', ['U0BEN', 'U0ANA'])).toEqual(['U0ANA']);
  expect(await people.whoOpenedHome('T0OTHER', ['U0ANA'])).toEqual([]);
  expect(await livesMs(keys.homeOpened('T0ACME', 'U0ANA'))).toBeGreaterThan(0);
});
