import { beforeAll, expect, test } from 'vitest';
import { createFiguresStore, type FiguresStore } from '../../src/store/figures.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const DAY_MS = 86_400_000;
const MONDAY_MS = Date.UTC(2026, 8, 21, 2);
const acme = { teamId: 'T0ACME', project: 'acme' };
const WEEK = { from: '2026-09-14', to: '2026-09-21' };

const redis = redisForTests();
let figures: FiguresStore;
beforeAll(() => {
  figures = createFiguresStore(redis.client);
});

test('finished days are kept for ten weeks, and older ones not at all, whoever asks for them', async () => {
  const [before, oldest, lastWeek] = ['2026-07-11', '2026-07-12', '2026-09-14'];
  for (const day of [before, oldest, lastWeek])
    await figures.addDay(acme, day, { human: 1, ai: 2 }, MONDAY_MS);
  const kept = await figures.days(acme, [before, oldest, lastWeek]);
  expect([...kept.keys()]).toEqual([oldest, lastWeek]);
  await figures.addDay(acme, '2026-09-20', { human: 1, ai: 2 }, MONDAY_MS + DAY_MS);
  expect([...(await figures.days(acme, [oldest, lastWeek])).keys()]).toEqual([lastWeek]);
});

test('what needed work is kept for half a year, and read by week, the latest first', async () => {
  const weekAgo = (weeks: number) => new Date(Date.UTC(2026, 8, 14 - 7 * weeks)).toISOString().slice(0, 10);
  for (const weeks of [26, 25, 3, 0, 1])
    await figures.addGaps(acme, weekAgo(weeks), { searches: [`${weeks}`] }, MONDAY_MS);
  const kept = async (monday: string) =>
    (await figures.gapsBefore(acme, monday)).map(([, { searches }]) => searches?.[0]);
  expect(await kept(weekAgo(-1))).toEqual(['0', '1', '3', '25']);
  expect(await kept(weekAgo(1))).toEqual(['3', '25']);
  await figures.addGaps(acme, weekAgo(0), { searches: ['again'] }, MONDAY_MS + 7 * DAY_MS);
  expect(await kept(weekAgo(-1))).toEqual(['again', '1', '3']);
  expect(await redis.client.pttl(keys.gaps('T0ACME', 'acme'))).toBeGreaterThan(25 * 7 * DAY_MS);
});

test('a list of pages is kept until the next digest of a week or a month, and as long again if it is reused', async () => {
  const month = { from: '2026-08-01', to: '2026-09-01' };
  for (const [range, days] of [
    [WEEK, 17],
    [month, 40],
  ] as const) {
    const key = keys.pageFigures('T0ACME', 'acme', `${range.from}..${range.to}`);
    const keptDays = async () => Math.ceil((await redis.client.pttl(key)) / DAY_MS);
    await figures.addPages(acme, range, 0, [], true);
    expect(await keptDays()).toBe(days);
    await redis.client.pexpire(key, DAY_MS);
    await figures.reusePages(acme, range);
    expect(await keptDays()).toBe(days);
  }
});

test('a list of pages is reused only when it is complete, even if it is empty', async () => {
  const page = { path: '/a', human: 3, ai: 1 };
  await figures.addPages(acme, WEEK, 0, [page], false);
  expect(await figures.reusePages(acme, WEEK)).toBe(false);
  await figures.addPages(acme, WEEK, 0, [{ ...page, human: 4 }], true);
  expect(await figures.reusePages(acme, WEEK)).toBe(true);
  expect(await Array.fromAsync(figures.pages(acme, WEEK))).toEqual([[{ ...page, human: 4 }]]);
  const empty = { ...acme, project: 'empty' };
  await figures.addPages(empty, WEEK, 0, [], true);
  expect(await figures.reusePages(empty, WEEK)).toBe(true);
  expect(await Array.fromAsync(figures.pages(empty, WEEK))).toEqual([[]]);
});
