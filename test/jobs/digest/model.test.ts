import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type PageCounts,
  type PageFigures,
  pageFiguresOf,
  pageFigures as schema,
} from '../../../src/jobs/digest/model.ts';
import { hostileText } from '../../support/arbitraries.ts';

const page = (path: string, human: number, ai = 0): PageCounts => ({ path, human, ai });
const paths = (pages: readonly { path: string }[]) => pages.map(({ path }) => path);

/** What a page with these views, and these in the range before, is listed as. */
function listsOf(now: [number, number], before: [number, number]): string[] {
  const figures = pageFiguresOf([page('/a', ...now)], [page('/a', ...before)]);
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
  ])('%s', (_, now, before, lists) => {
    expect(listsOf(now, before)).toEqual(lists);
  });
});

test('the example of the design', () => {
  const figures = pageFiguresOf(
    [
      page('/', 4000, 300),
      page('/guides/webhooks', 500, 730),
      page('/api/errors', 20, 480),
      page('/new', 12),
    ],
    [
      page('/', 4100, 280),
      page('/guides/webhooks', 490, 320),
      page('/api/errors', 22, 470),
      page('/old', 60, 4),
    ],
  );
  expect(figures).toMatchObject({
    count: 4,
    sum: { human: 4532, ai: 1510 },
    biggest: { page: { path: '/guides/webhooks', ai: 730, before: { ai: 320 } }, by: 'ai' },
    aiRead: [{ path: '/api/errors', human: 20, ai: 480 }],
    quiet: [{ path: '/old', human: 0, ai: 0, before: { human: 60, ai: 4 } }],
  });
  expect(paths(figures.top)).toEqual(['/', '/guides/webhooks', '/api/errors', '/new']);
  expect(paths(figures.risingAi)).toEqual(['/guides/webhooks']);
  expect(paths(figures.falling)).toEqual([]);
  expect(paths(figures.fresh)).toEqual(['/new']);
});

test('lists are short and in one order, those of one size by path', () => {
  const same = Array.from({ length: 30 }, (_, index) => page(`/${String(index).padStart(2, '0')}`, 100));
  const { top, fresh, biggest } = pageFiguresOf(same.toReversed(), []);
  expect(paths(top)).toEqual(paths(same.slice(0, 10)));
  expect(paths(fresh)).toEqual(paths(same.slice(0, 5)));
  expect(biggest).toMatchObject({ page: { path: '/00' }, by: 'human' });
  const { quiet } = pageFiguresOf([], same.toReversed());
  expect(paths(quiet)).toEqual(paths(same.slice(0, 5)));
});

test('of changes of one size, that by people is the biggest', () => {
  const { biggest } = pageFiguresOf([page('/a', 0, 100), page('/b', 100)], []);
  expect(biggest).toMatchObject({ page: { path: '/b' }, by: 'human' });
});

test('without the range before nothing is compared', () => {
  expect(pageFiguresOf([page('/a', 500, 500)])).toEqual({
    count: 1,
    sum: { human: 500, ai: 500 },
    top: [{ path: '/a', human: 500, ai: 500, before: { human: 0, ai: 0 } }],
    ...{ rising: [], falling: [], risingAi: [], fallingAi: [], fresh: [], quiet: [], aiRead: [] },
  });
});

test('a path that comes twice counts once, also one that objects have of their own', () => {
  const figures = pageFiguresOf([page('__proto__', 5), page('/a', 60), page('__proto__', 70)], []);
  expect(figures).toMatchObject({ count: 2, sum: { human: 130, ai: 0 } });
  expect(paths(figures.top)).toEqual(['__proto__', '/a']);
});

describe('the same as counted by hand', () => {
  const views = fc.oneof(fc.constantFrom(0, 0, 0, 9, 10, 49, 50, 60, 62, 63), fc.nat(200), fc.nat(1e9));
  const path = fc.oneof(
    fc.nat(30).map((n) => `/p${n}`),
    hostileText,
  );
  const site = fc.uniqueArray(fc.record({ path, human: views, ai: views }), {
    selector: (one) => one.path,
    maxLength: 60,
  });

  /** Written without a look at the code, for few pages: every list is all pages, filtered, sorted and cut. */
  function byHand(now: readonly PageCounts[], before: readonly PageCounts[]): PageFigures {
    const allPaths = [...new Set([...paths(now), ...paths(before)])].sort((a, b) => (a < b ? -1 : 1));
    const find = (pages: readonly PageCounts[], wanted: string) => {
      const { human = 0, ai = 0 } = pages.find((one) => one.path === wanted) ?? {};
      return { human, ai };
    };
    const all = allPaths.map((one) => ({ path: one, ...find(now, one), before: find(before, one) }));
    type Row = (typeof all)[number];
    const read = (row: Row) => row.human + row.ai;
    const readBefore = (row: Row) => row.before.human + row.before.ai;
    const least = (a: number, b: number) => Math.max(a, b) >= 50 && a !== b && Math.abs(a - b) / b >= 0.25;
    // A stable sort of what is sorted by path.
    const most = (rows: Row[], by: (row: Row) => number, max: number) =>
      [...rows].sort((a, b) => by(b) - by(a)).slice(0, max);
    const moved = (by: 'human' | 'ai', way: 1 | -1) =>
      most(
        all
          .filter((row) => least(row[by], row.before[by]) && read(row) && readBefore(row))
          .filter((row) => way * (row[by] - row.before[by]) > 0),
        (row) => way * (row[by] - row.before[by]),
        3,
      );
    const rows = all.filter((row) => read(row) > 0);
    const changes = (['human', 'ai'] as const).flatMap((by) =>
      all
        .filter((row) => least(row[by], row.before[by]))
        .map((row) => ({ page: row, by, size: Math.abs(row[by] - row.before[by]) })),
    );
    const [biggest] = changes.sort((a, b) => b.size - a.size);
    return {
      count: rows.length,
      sum: {
        human: rows.map((row) => row.human).reduce((a, b) => a + b, 0),
        ai: rows.map((row) => row.ai).reduce((a, b) => a + b, 0),
      },
      sumBefore: {
        human: before.map((row) => row.human).reduce((a, b) => a + b, 0),
        ai: before.map((row) => row.ai).reduce((a, b) => a + b, 0),
      },
      top: most(rows, read, 10),
      ...(biggest && { biggest: { page: biggest.page, by: biggest.by } }),
      rising: moved('human', 1),
      falling: moved('human', -1),
      risingAi: moved('ai', 1),
      fallingAi: moved('ai', -1),
      fresh: most(
        all.filter((row) => readBefore(row) === 0 && row.human >= 10),
        read,
        5,
      ),
      quiet: most(
        all.filter((row) => read(row) === 0 && readBefore(row) >= 50),
        readBefore,
        5,
      ),
      aiRead: most(
        all.filter((row) => row.ai >= 50 && row.ai * 5 >= read(row) * 4),
        (row) => row.ai,
        5,
      ),
    };
  }

  test('whatever the pages, and in whatever order they come', () => {
    fc.assert(
      fc.property(site, site, (now, before) => {
        const figures = pageFiguresOf(now, before);
        expect(figures).toEqual(byHand(now, before));
        expect(pageFiguresOf(now.toReversed(), before.toReversed())).toEqual(figures);
        expect(schema.parse(figures)).toEqual(figures);
      }),
      { numRuns: 500 },
    );
  });
});

test('100,000 pages add up', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => page(`/p/${index}`, index % 1000, index % 7));
  const { count, sum, top } = pageFiguresOf(many, many);
  expect(count).toBe(many.filter(({ human, ai }) => human + ai > 0).length);
  expect(sum).toEqual({ human: 49_950_000, ai: 299_995 });
  expect(top).toHaveLength(10);
});
