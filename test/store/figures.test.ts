import { beforeAll, expect, test } from 'vitest';
import { createFiguresStore, type FiguresStore } from '../../src/store/figures.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const DAY_MS = 86_400_000;
const MONDAY_MS = Date.UTC(2026, 8, 21, 2);
const acme = { teamId: 'T0ACME', project: 'acme' };
const WEEK = '2026-09-14..2026-09-21';

const redis = redisForTests();
let figures: FiguresStore;
beforeAll(() => {
  figures = createFiguresStore(redis.client);
});

/** The days that a key has left to live, begun ones whole. */
const daysLeft = async (key: string) => Math.ceil((await redis.client.pttl(key)) / DAY_MS);

const acmePages = keys.pageFigures('T0ACME', 'acme', WEEK);

test('pages of requested dates are kept for two days, those of weekly digests longer, whichever comes first', async () => {
  const page = { path: '/a', human: 3, ai: 1 };
  await figures.addPages({ ...acme, urgent: true }, WEEK, [page]);
  expect(await daysLeft(acmePages)).toBe(2);
  await figures.addPages({ ...acme, urgent: false }, WEEK, [{ ...page, path: '/b' }]);
  await figures.addPages({ ...acme, urgent: true }, WEEK, [{ ...page, human: 4 }]);
  expect(await daysLeft(acmePages)).toBe(17);
  const pages = await figures.pages(acme, WEEK);
  expect(pages).toHaveLength(2);
  expect(pages).toContainEqual({ path: '/a', human: 4, ai: 1 });
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

test('a list of pages is reused only when it is complete, and is then kept as long as new ones', async () => {
  const [weekly, asked] = [
    { ...acme, urgent: false },
    { ...acme, urgent: true },
  ];
  const page = { path: '/a', human: 3, ai: 1 };
  await figures.addPages(asked, WEEK, [page]);
  expect(await figures.reusePages(weekly, WEEK)).toBe(false);
  await figures.completePages(asked, WEEK);
  expect(await daysLeft(acmePages)).toBe(2);
  expect(await figures.reusePages(weekly, WEEK)).toBe(true);
  expect(await daysLeft(acmePages)).toBe(17);
  expect(await figures.pages(weekly, WEEK)).toEqual([page]);
});

test('a range without any page is complete, too', async () => {
  const none = { teamId: 'T0ACME', project: 'empty', urgent: false };
  await figures.completePages(none, WEEK);
  expect(await figures.reusePages({ ...none, urgent: true }, WEEK)).toBe(true);
  expect(await figures.pages(none, WEEK)).toEqual([]);
});
