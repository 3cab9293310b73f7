import { beforeAll, expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import {
  type AlertStore,
  createAlertStore,
  createKeyWatch,
  createRejectedKeyStore,
} from '../../src/store/alerts.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
let alerts: AlertStore;
beforeAll(() => {
  alerts = createAlertStore(redis.client);
});

const begin = async (name: string, nowMs: number) => (await alerts.begin(name, nowMs)).sinceMs;

test('an alert begins once an hour', async () => {
  expect(await begin('key', 1000)).toBe(1000);
  expect(await begin('key', 2000)).toBe(1000);
  expect(await begin('other', 3000)).toBe(3000);
  const livesMs = await redis.client.pttl(keys.alert('key'));
  expect(livesMs).toBeLessThanOrEqual(retention.adminAlertMs);
  expect(livesMs).toBeGreaterThan(retention.adminAlertMs - 30_000);
  await redis.client.pexpire(keys.alert('key'), 0);
  expect(await begin('key', 5000)).toBe(5000);
});

test('an alert that many processes begin at once has one beginning', async () => {
  const begun = await Promise.all(Array.from({ length: 20 }, (_, index) => begin('key', 1000 + index)));
  expect(new Set(begun).size).toBe(1);
});

test('its recipients are stored as long as the alert', async () => {
  await alerts.markSent('key', 1000, ['U0ANA']);
  expect(await alerts.begin('key', 1000)).toEqual({ sinceMs: 1000 });
  await alerts.markSent('key', 1000, ['U0ANA']);
  expect(await alerts.begin('key', 2000)).toEqual({ sinceMs: 1000, recipients: ['U0ANA'] });
});

test('a key is rejected since it first was, until it works', async () => {
  const store = createRejectedKeyStore(redis.client);
  expect(await store.reject('one', 1000)).toBe(1000);
  expect(await store.reject('one', 5000)).toBe(1000);
  expect(await store.since(['other', 'one'])).toEqual([undefined, 1000]);
  expect(await store.since([])).toEqual([]);
  await store.accept('one');
  expect(await store.since(['one'])).toEqual([undefined]);
});

test('it is forgotten a week after the last call', async () => {
  const store = createRejectedKeyStore(redis.client);
  await store.reject('one', 1000);
  await redis.client.pexpire(keys.rejectedKey('one'), 5000);
  await store.reject('one', 2000);
  expect(await redis.client.pttl(keys.rejectedKey('one'))).toBeGreaterThan(retention.rejectedKeyMs - 60_000);
});

test('of many calls only what is new is kept, and what stays as it is once an hour', async () => {
  let nowMs = 1000;
  const kept: string[] = [];
  const watch = createKeyWatch(
    {
      async reject(keyId) {
        kept.push(`${keyId} rejected`);
        return nowMs;
      },
      async accept(keyId) {
        kept.push(`${keyId} accepted`);
      },
    },
    () => nowMs,
    () => {},
  );
  for (const accepted of [true, true, false, false]) watch('one', accepted);
  watch('two', false);
  expect(kept.splice(0)).toEqual(['one accepted', 'one rejected', 'two rejected']);
  nowMs += 3_600_000;
  watch('one', false);
  watch('one', true);
  watch('one', true);
  nowMs += 3_600_000;
  watch('one', true);
  watch('one', true);
  expect(kept).toEqual(['one rejected', 'one accepted', 'one accepted']);
});

test('what could not be kept is kept after the next call', async () => {
  const problems: Error[] = [];
  let calls = 0;
  const watch = createKeyWatch(
    {
      reject: async () => 0,
      accept() {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('Redis is away')) : Promise.resolve();
      },
    },
    () => 0,
    (problem) => problems.push(problem),
  );
  watch('one', true);
  await expect.poll(() => problems.length).toBe(1);
  watch('one', true);
  watch('one', true);
  expect(calls).toBe(2);
});
