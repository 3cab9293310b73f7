import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gapId, takeGaps } from '../../../src/jobs/digest/gaps.ts';
import type { ReaderFigures } from '../../../src/jobs/digest/model.ts';
import type { FiguresStore } from '../../../src/store/figures.ts';
import { anEdition } from '../../support/jobs/digest/builders.ts';

type Weeks = Parameters<FiguresStore['addGaps']>[2];

/** A store that keeps all weeks, and the gaps of a digest of the week from that Monday. */
function memory() {
  const weeks = new Map<string, Weeks>();
  const figures = {
    addGaps: async (_: unknown, monday: string, open: Weeks) => void weeks.set(monday, open),
    gapsBefore: async (_: unknown, monday: string) =>
      [...weeks].filter(([from]) => from < monday).toSorted(([a], [b]) => (a < b ? 1 : -1)),
  };
  const context = { store: { figures }, now: () => 0 } as unknown as Parameters<typeof takeGaps>[2];
  const take = (
    monday: string,
    readers: ReaderFigures,
    changes: Partial<Parameters<typeof takeGaps>[0]> = {},
  ) => takeGaps({ ...anEdition(), range: { from: monday, to: '' }, ...changes }, readers, context);
  return { weeks, take };
}

const mondayOf = (week: number) => new Date(Date.UTC(2026, 0, 5 + 7 * week)).toISOString().slice(0, 10);
const search = (query: string, hits = 10) => ({ query, hits });

test('of any history, each week says what a count from its beginning says', async () => {
  // A week without searches is null. Weeks are some Mondays apart.
  const open = fc.option(fc.subarray(['a', 'b', 'c']), { freq: 4 });
  const week = fc.record({ open, isCut: fc.boolean(), after: fc.integer({ min: 1, max: 4 }) });
  const history = fc.array(week, { maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(history, async (all) => {
      const { take } = memory();
      const counts = new Map(
        ['a', 'b', 'c'].map((name) => [name, { row: 0, without: 0, was: false, at: 0 }]),
      );
      let at = 0;
      for (const { open, isCut, after } of all) {
        at += after;
        const searches = open?.map((one) => search(one));
        const { gaps } = await take(mondayOf(at), searches ? { searches, cut: { searches: isCut } } : {});
        for (const [name, count] of open ? counts : []) {
          const isOpen = open?.includes(name);
          if (!isOpen && isCut) continue;
          // After three Mondays of which nothing is known, a count begins again.
          if (at - count.at > 3) Object.assign(count, { row: 0, without: 0, was: false });
          count.at = at;
          if (isOpen) {
            count.row += 1;
            const isBack = count.row === 1 && count.was;
            const wanted = isBack ? { weeks: 1, back: count.without } : { weeks: count.row };
            expect({ weeks: 1, ...gaps[gapId('searches', name)] }).toEqual(wanted);
            Object.assign(count, { without: 0, was: true });
          } else Object.assign(count, { row: 0, without: count.without + 1 });
        }
      }
    }),
  );
});

test('first come those with the most events × weeks, of all that are known', async () => {
  const { take } = memory();
  const bad = (path: string, down: number) => ({ path, up: 0, down });
  const topic = (name: string, unanswered: number) => ({ name, asked: 9, unanswered });
  const questions = (...topics: ReturnType<typeof topic>[]) => ({ asked: 50, unanswered: 20, topics });
  await take(mondayOf(0), {
    searches: [search('old')],
    thumbs: [bad('/old', 4)],
    questions: questions(topic('old', 3)),
  });
  const news = Array.from({ length: 6 }, (_, n) => search(`new ${n}`, 19 - n));
  const thumbs = [{ path: '/liked', up: 9, down: 8 }, bad('/new', 7), bad('/old', 4), bad('/few', 2)];
  const { readers } = await take(mondayOf(1), {
    searches: [...news, search('old')],
    thumbs,
    questions: questions(topic('few', 2), topic('new', 5), topic('old', 3)),
  });
  expect(readers.searches?.map(({ query }) => query)).toEqual(['old', 'new 0', 'new 1', 'new 2', 'new 3']);
  expect(readers.thumbs?.map(({ path }) => path)).toEqual(['/old', '/new', '/liked', '/few']);
  expect(readers.questions).toEqual({
    asked: 50,
    unanswered: 20,
    topics: [topic('old', 3), topic('new', 5)],
  });
});

test('a month has the weeks in a row up to its last one, and stores none', async () => {
  const { take, weeks } = memory();
  for (const [week, open] of ['ab', 'ab', 'a', 'b'].entries())
    await take(mondayOf(week), { searches: [...open].map((query) => search(query)) });
  const range = { from: '2026-01-01', to: mondayOf(3) };
  const month = { kind: 'monthly', week: '2026-01', range };
  const { gaps } = await take('', { searches: ['a', 'b', 'c'].map((query) => search(query)) }, month);
  expect(gaps).toEqual({ [gapId('searches', 'a')]: { weeks: 3 } });
  expect(weeks.size).toBe(4);
});

test.each([
  ['weekly', '2026-W02', 1],
  ['preview', '2026-W02', 0],
  ['asked', '2026-W02', 0],
  ['asked', undefined, 0],
])('a %s digest of %s stores %i weeks, without a word of readers', async (kind, week, stored) => {
  const { take, weeks } = memory();
  await take(mondayOf(0), { searches: [search('sso okta')] });
  const { gaps } = await take(mondayOf(1), { searches: [search('sso okta')] }, { kind, week });
  expect(Object.values(gaps)).toEqual(week === undefined ? [] : [{ weeks: 2 }]);
  await take(mondayOf(2), {});
  expect(weeks.size).toBe(1 + stored);
  expect(JSON.stringify([...weeks])).not.toContain('sso');
});
