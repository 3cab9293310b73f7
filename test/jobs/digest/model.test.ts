import { describe, expect, test } from 'vitest';
import { comparePages, type PageCounts, pageFiguresOf } from '../../../src/jobs/digest/model.ts';

const page = (path: string, human: number, ai = 0): PageCounts => ({ path, human, ai });
const figuresOf = async (pages: PageCounts[], before?: PageCounts[]) =>
  pageFiguresOf(await comparePages([pages], before && [before]), before !== undefined);
const paths = (pages: readonly { path: string }[]) => pages.map(({ path }) => path);

/** What a page with these views, and these in the range before, is listed as. */
async function listsOf(now: [number, number], before: [number, number]): Promise<string[]> {
  const figures = await figuresOf([page('/a', ...now)], [page('/a', ...before)]);
  const lists = ['rising', 'falling', 'risingAi', 'fallingAi', 'fresh', 'quiet', 'aiRead'] as const;
  return lists.filter((name) => figures[name].length > 0);
}

describe('what a page is listed as', () => {
  test.each<[string, [number, number], [number, number], string[]]>([
    ['up by a quarter', [100, 25], [80, 20], ['rising']],
    ['up by less', [124, 0], [100, 0], []],
    ['down with people, up with AI', [100, 300], [300, 100], ['falling', 'risingAi']],
    ['down with AI', [100, 20], [100, 80], ['fallingAi']],
    ['up to fifty', [50, 0], [40, 0], ['rising']],
    ['up to less than fifty', [49, 0], [10, 0], []],
    ['down by a quarter', [75, 0], [100, 0], ['falling']],
    ['down by less', [76, 0], [100, 0], []],
    ['down from fifty', [1, 0], [50, 0], ['falling']],
    ['down from less than fifty', [1, 0], [49, 0], []],
    ['the same', [500, 0], [500, 0], []],
    ['new', [10, 0], [0, 0], ['fresh']],
    ['new, hardly read', [9, 0], [0, 0], []],
    ['quiet', [0, 0], [30, 20], ['quiet']],
    ['quiet, hardly read before', [0, 0], [30, 19], []],
    ['read by AI', [12, 50], [12, 50], ['aiRead']],
    ['read by AI, exactly four in five', [15, 60], [15, 60], ['aiRead']],
    ['read by AI, a little less', [16, 60], [16, 60], []],
    ['hardly read by AI', [0, 49], [0, 49], []],
    ['new, by people', [10, 90], [0, 0], ['fresh', 'aiRead']],
    ['new, by AI alone', [9, 90], [0, 0], ['aiRead']],
  ])('%s', async (_, now, before, lists) => {
    expect(await listsOf(now, before)).toEqual(lists);
  });
});

test('lists are short and in one order, those of one size by path', async () => {
  const same = Array.from({ length: 30 }, (_, index) => page(`/${String(index).padStart(2, '0')}`, 100));
  const { top, fresh, biggest } = await figuresOf(same.toReversed(), []);
  expect(paths(top)).toEqual(paths(same.slice(0, 10)));
  expect(paths(fresh)).toEqual(paths(same.slice(0, 5)));
  expect(biggest).toMatchObject({ page: { path: '/00' }, by: 'human' });
  const { quiet } = await figuresOf([], same.toReversed());
  expect(paths(quiet)).toEqual(paths(same.slice(0, 5)));
});

test('of changes of one size, that by people is the biggest', async () => {
  const { biggest } = await figuresOf([page('/a', 0, 100), page('/b', 100)], []);
  expect(biggest).toMatchObject({ page: { path: '/b' }, by: 'human' });
});

test('without the range before nothing is compared', async () => {
  expect(await figuresOf([page('/a', 500, 500)])).toEqual({
    count: 1,
    sum: { human: 500, ai: 500 },
    top: [{ path: '/a', human: 500, ai: 500, before: { human: 0, ai: 0 } }],
    ...{ rising: [], falling: [], risingAi: [], fallingAi: [], fresh: [], quiet: [], aiRead: [] },
  });
});

test('a path that comes twice counts once, also one that objects have of their own', async () => {
  const figures = await figuresOf([page('__proto__', 5), page('/a', 60), page('__proto__', 70)], []);
  expect(figures).toMatchObject({ count: 2, sum: { human: 130, ai: 0 } });
  expect(paths(figures.top)).toEqual(['__proto__', '/a']);
});
