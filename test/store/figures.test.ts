import { beforeAll, expect, test } from 'vitest';
import { createFiguresStore, type FiguresStore } from '../../src/store/figures.ts';
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

test('finished days are kept for nine weeks, and older ones not at all, whoever asks for them', async () => {
  const [before, oldest, lastWeek] = ['2026-07-18', '2026-07-19', '2026-09-14'];
  for (const day of [before, oldest, lastWeek])
    await figures.addDay(acme, day, { human: 1, ai: 2 }, MONDAY_MS);
  const kept = await figures.days(acme, [before, oldest, lastWeek]);
  expect([...kept.keys()]).toEqual([oldest, lastWeek]);
  await figures.addDay(acme, '2026-09-20', { human: 1, ai: 2 }, MONDAY_MS + DAY_MS);
  expect([...(await figures.days(acme, [oldest, lastWeek])).keys()]).toEqual([lastWeek]);
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
