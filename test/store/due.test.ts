import { beforeAll, expect, test } from 'vitest';
import { createDueStore, type DueEntry, type DueStore } from '../../src/store/due.ts';
import { keys } from '../../src/store/keys.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { redisForTests } from '../support/redis.ts';

const HOUR_MS = 3_600_000;

const redis = redisForTests();
let due: DueStore;
beforeAll(() => {
  due = createDueStore(redis.client);
});

const entry: DueEntry = { list: 'runs', member: 'export r1' };
const timeMs = () => createRunStore(redis.client).timeMs();
const dueInMs = async () =>
  Number(await redis.client.zscore(keys.activeRuns(), 'export r1')) - (await timeMs());

/** An open run. */
async function given() {
  await redis.client.hset(keys.run('r1'), 'json', '{}');
  await redis.client.zadd(keys.activeRuns(), await timeMs(), 'export r1');
}

test('an entry that waits is due when it says', async () => {
  await given();
  expect(await due.postpone(entry, HOUR_MS, (await due.begin(entry)).wakes)).toBe(true);
  expect(await dueInMs()).toBeGreaterThan(HOUR_MS - 5000);
  expect(await dueInMs()).toBeLessThanOrEqual(HOUR_MS);
});

test('an entry that was woken meanwhile is due now', async () => {
  await given();
  const wakes = (await due.begin(entry)).wakes;
  await createRunStore(redis.client).markDue('export', 'r1');
  expect(await due.postpone(entry, HOUR_MS, wakes)).toBe(false);
  expect(await dueInMs()).toBeLessThanOrEqual(0);
});

test('what became idle meanwhile stays so', async () => {
  await given();
  await redis.client.zrem(keys.activeRuns(), 'export r1');
  await due.postpone(entry, HOUR_MS, 0);
  expect(await redis.client.zscore(keys.activeRuns(), 'export r1')).toBeNull();
});

test('overdue is what should have come, the longest first, and what was planned before the clock was set back', async () => {
  const nowMs = await timeMs();
  const list = {
    'a bit late': -5000,
    soon: 1000,
    'within the longest pause': 20_000,
    later: 60_000,
    late: -60_000,
  };
  for (const [member, inMs] of Object.entries(list))
    await redis.client.zadd(keys.undelivered(), nowMs + inMs, member);
  expect(await due.overdue('messages', 1000, 30_000)).toEqual(['late', 'a bit late', 'later']);
  expect(await due.overdue('messages', 30_000, 90_000)).toEqual(['late']);
});

test('one process at a time looks for it, and the next one when the time is over', async () => {
  expect(await due.claimSweep(HOUR_MS)).toBe(true);
  expect(await due.claimSweep(HOUR_MS)).toBe(false);
  expect(await createDueStore(redis.client).claimSweep(HOUR_MS)).toBe(false);
  await redis.client.pexpire(keys.sweep(), 1);
  await expect.poll(() => due.claimSweep(HOUR_MS)).toBe(true);
});

test('what is overdue is counted over all lists', async () => {
  const nowMs = await timeMs();
  await redis.client.zadd(keys.undelivered(), nowMs - 61_000, 'a', nowMs - 50_000, 'b', nowMs + 1000, 'c');
  await redis.client.zadd(keys.activeRuns(), nowMs - 120_000, 'export r1');
  expect(await due.countOverdue(60_000)).toBe(2);
  expect(await due.countOverdue(40_000)).toBe(3);
});
