import { expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { createValueStores } from '../../src/store/values.ts';
import { redisForTests } from '../support/redis.ts';

const ADDRESS = 'https://bundles.example/b.zip?X-Signature=s3cret';

const redis = redisForTests();
const stores = () => createValueStores(redis.client);
const livesMs = (key: string) => redis.client.pttl(key);

test('a link ends when it says, and an expired one replaces an older one of its name', async () => {
  const { links } = stores();
  const endsAtMs = Date.now() + 3_600_000;
  await links.put('l1', ADDRESS, endsAtMs);
  expect(await links.get('l1')).toBe(ADDRESS);
  expect(Math.abs(Date.now() + (await livesMs(keys.link('l1'))) - endsAtMs)).toBeLessThan(100);
  await links.put('l1', ADDRESS, Date.now() - 1000);
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

test('an alert that many processes begin at once begins once an hour, and is sent once', async () => {
  const { alerts } = stores();
  const begun = await Promise.all(
    Array.from({ length: 20 }, (_, index) => alerts.begin('key', 1000 + index)),
  );
  expect(new Set(begun.map(({ sinceMs }) => sinceMs)).size).toBe(1);
  await alerts.markSent('key', 1000);
  expect(await alerts.begin('key', 2000)).toEqual({ sinceMs: 1000, sent: true });
  expect(await livesMs(keys.alert('key'))).toBeLessThanOrEqual(retention.adminAlertMs);
  await redis.client.pexpire(keys.alert('key'), 0);
  await alerts.markSent('key', 1000);
  expect(await alerts.begin('key', 5000)).toEqual({ sinceMs: 5000 });
});

test('a key is rejected since it first was, until it works, or for a week after the last call', async () => {
  const { rejectedKeys } = stores();
  expect(await rejectedKeys.reject('one', 1000)).toBe(1000);
  await redis.client.pexpire(keys.rejectedKey('one'), 5000);
  expect(await rejectedKeys.reject('one', 5000)).toBe(1000);
  expect(await livesMs(keys.rejectedKey('one'))).toBeGreaterThan(retention.rejectedKeyMs - 60_000);
  expect(await rejectedKeys.since(['other', 'one'])).toEqual([undefined, 1000]);
  expect(await rejectedKeys.since([])).toEqual([]);
  await rejectedKeys.accept('one');
  expect(await rejectedKeys.since(['one'])).toEqual([undefined]);
});
