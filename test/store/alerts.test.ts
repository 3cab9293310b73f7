import { beforeAll, expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { type AlertStore, createAlertStore } from '../../src/store/alerts.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
let alerts: AlertStore;
beforeAll(() => {
  alerts = createAlertStore(redis.client);
});

test('an alert has begun when it was first given, however often it is given', async () => {
  expect(await alerts.begin('key', 1000)).toBe(1000);
  expect(await alerts.begin('key', 2000)).toBe(1000);
  expect(await alerts.begin('other', 3000)).toBe(3000);
});

test('it lasts an hour from its beginning, and giving it again does not prolong it', async () => {
  await alerts.begin('key', 1000);
  const livesMs = await redis.client.pttl(keys.alert('key'));
  expect(livesMs).toBeLessThanOrEqual(retention.adminAlertMs);
  expect(livesMs).toBeGreaterThan(retention.adminAlertMs - 30_000);
  await redis.client.pexpire(keys.alert('key'), 60_000);
  await alerts.begin('key', 2000);
  expect(await redis.client.pttl(keys.alert('key'))).toBeLessThanOrEqual(60_000);
});

test('once it is over, it begins again', async () => {
  await alerts.begin('key', 1000);
  await redis.client.pexpire(keys.alert('key'), 0);
  expect(await alerts.begin('key', 5000)).toBe(5000);
});

test('of many who give it at once, all hear of one beginning', async () => {
  const begun = await Promise.all(
    Array.from({ length: 20 }, (_, index) => alerts.begin('key', 1000 + index)),
  );
  expect(new Set(begun).size).toBe(1);
});

test('it remembers whom it is for, as long as it is told and no longer than it lasts itself', async () => {
  expect(await alerts.people('key')).toBeUndefined();
  await alerts.begin('key', 1000);
  await alerts.setPeople('key', ['U0ANA'], 60_000);
  expect(await alerts.people('key')).toEqual(['U0ANA']);
  expect(await alerts.people('other')).toBeUndefined();
  expect(await redis.client.pttl(keys.alertPeople('key'))).toBeLessThanOrEqual(60_000);
  await redis.client.pexpire(keys.alert('key'), 30_000);
  await alerts.setPeople('key', [], retention.adminAlertMs);
  expect(await alerts.people('key')).toEqual([]);
  expect(await redis.client.pttl(keys.alertPeople('key'))).toBeLessThanOrEqual(30_000);
});

test('one that has not begun remembers nobody', async () => {
  await alerts.setPeople('key', ['U0ANA'], 60_000);
  expect(await alerts.people('key')).toBeUndefined();
});
