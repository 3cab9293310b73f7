import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createDueStore, type DueStore } from '../../src/store/due.ts';
import { keys } from '../../src/store/keys.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { redisForTests } from '../support/redis.ts';

const HOUR_MS = 3_600_000;

const redis = redisForTests();
let due: DueStore;
let nowMs: number;
beforeAll(() => {
  due = createDueStore(redis.client);
});
beforeEach(async () => {
  nowMs = await timeMs();
});

const run = { job: 'export', id: 'r1' };
const timeMs = () => createRunStore(redis.client).timeMs();
const dueInMs = async () =>
  Number(await redis.client.zscore(keys.activeRuns(), 'export r1')) - (await timeMs());

/** An open run. */
async function given() {
  await redis.client.hset(keys.run('r1'), 'json', '{}');
  await redis.client.zadd(keys.activeRuns(), nowMs, 'export r1');
}

async function givenList(list: Record<string, number>) {
  for (const [member, inMs] of Object.entries(list))
    await redis.client.zadd(keys.activeRuns(), nowMs + inMs, member);
}

test('a run that waits is due when it says, or now if it was woken since', async () => {
  await given();
  const { wakes } = await due.begin(run);
  expect(await due.postpone(run, HOUR_MS, wakes)).toBe(true);
  expect(await dueInMs()).toBeGreaterThan(HOUR_MS - 5000);
  expect(await dueInMs()).toBeLessThanOrEqual(HOUR_MS);
  await createRunStore(redis.client).markDue('export', 'r1');
  expect(await due.postpone(run, HOUR_MS, wakes)).toBe(false);
  expect(await dueInMs()).toBeLessThanOrEqual(0);
});

test('what became idle meanwhile stays so', async () => {
  await given();
  await redis.client.zrem(keys.activeRuns(), 'export r1');
  await due.postpone(run, HOUR_MS, 0);
  expect(await redis.client.zscore(keys.activeRuns(), 'export r1')).toBeNull();
});

test('overdue is what should have come, the longest first, and what was planned before the clock was set back', async () => {
  const list = { late: -60_000, 'a bit late': -5000, soon: 1000, 'within the pause': 20_000, later: 60_000 };
  await givenList(Object.fromEntries(Object.entries(list).map(([id, inMs]) => [`export ${id}`, inMs])));
  const ids = async (lateMs: number, longestMs: number) =>
    (await due.overdue(lateMs, longestMs)).map(({ id }) => id);
  expect(await ids(1000, 30_000)).toEqual(['late', 'a bit late', 'later']);
  expect(await ids(30_000, 90_000)).toEqual(['late']);
});

test('how many are overdue, and the oldest of each job, is known', async () => {
  await givenList({ 'export a': -90_000, 'export b': -5000, 'outbox c.end': -30_000, 'link d': 60_000 });
  expect(await due.countOverdue(60_000)).toBe(1);
  expect(await due.countOverdue(20_000)).toBe(2);
  const found = await due.dueFor();
  expect([...found.keys()]).toEqual(['export', 'outbox']);
  expect(found.get('export')).toBeGreaterThanOrEqual(90_000);
  expect(found.get('export')).toBeLessThan(150_000);
});
