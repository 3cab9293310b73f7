import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createDueStore, type DueStore } from '../../src/store/due.ts';
import { keys } from '../../src/store/keys.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
let due: DueStore;
let nowMs: number;
beforeAll(() => {
  due = createDueStore(redis.client);
});
beforeEach(async () => {
  nowMs = await timeMs();
});

const timeMs = () => createRunStore(redis.client).timeMs();

async function givenList(list: Record<string, number>) {
  for (const [member, inMs] of Object.entries(list))
    await redis.client.zadd(keys.activeRuns(), nowMs + inMs, member);
}

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

test('the workspace of a record is known', async () => {
  await redis.client.hset(keys.run('new'), { json: '{}', team: 'T0NEW' });
  const teamOf = async (job: string, id: string) => (await due.begin({ job, id })).teamId;
  expect(await teamOf('export', 'new')).toBe('T0NEW');
  expect(await teamOf('export', 'gone')).toBeUndefined();
});
