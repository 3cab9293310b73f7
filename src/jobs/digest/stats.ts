import {
  addCounts,
  type Counts,
  type PageChange,
  type PageCounts,
  type PageFigures,
  totalOf,
} from './model.ts';

/** Entries of a list, and rows of the table of top pages. */
const MAX_LISTED = 5;
const MAX_TOP = 10;
/** Entries of each of the four lists of rising and falling pages. */
const MAX_MOVED = 3;

/** Minimum views in one of the two ranges, and minimum change, of a rising or falling page: less is chance. */
const MIN_VIEWS = 50;
const MIN_CHANGE_PERCENT = 25;
/** Minimum views by people of a new page: below ten it may be a mistyped address, or one crawler. */
const MIN_FRESH = 10;
/** Minimum share of AI, among a minimum of views, of a page for AI. */
const MIN_AI_PERCENT = 80;
const MIN_AI_VIEWS = 50;

/**
 * Returns each page of either range with its views in both; without views there it has 0. If a path comes twice, the
 * last one counts.
 */
export function comparePages(pages: Iterable<PageCounts>, before: Iterable<PageCounts> = []): PageChange[] {
  const all = new Map<string, PageChange>();
  for (const { path, human, ai } of before) all.set(path, { path, ...NONE, before: { human, ai } });
  for (const { path, human, ai } of pages)
    all.set(path, { path, human, ai, before: all.get(path)?.before ?? NONE });
  return [...all.values()];
}

const NONE: Counts = { human: 0, ai: 0 };

/**
 * Returns the page figures of a digest's range, compared with the range before. Without `before` nothing is compared.
 * The order is total, so the same numbers always give the same figures; the time is linear.
 *
 * Views are whole numbers from 0: `figures/requests.ts` rounds the platform's numbers.
 */
export function pageFigures(pages: Iterable<PageCounts>, before?: Iterable<PageCounts>): PageFigures {
  const all = comparePages(pages, before);
  const read = all.filter((page) => totalOf(page) > 0);
  const compared = before === undefined ? [] : all;
  const changed = { human: compared.filter(isMarked('human')), ai: compared.filter(isMarked('ai')) };
  // New and quiet pages have lists of their own.
  const moved = (by: keyof Counts, isListed: (change: number) => boolean) =>
    largest(
      changed[by].filter(
        (page) => totalOf(page) > 0 && totalOf(page.before) > 0 && isListed(page[by] - page.before[by]),
      ),
      MAX_MOVED,
      sizeOf(by),
    );
  const isRise = (change: number) => change > 0;
  const isFall = (change: number) => change < 0;
  return {
    count: read.length,
    sum: addCounts(read),
    ...(before && { sumBefore: addCounts(all.map((page) => page.before)) }),
    top: largest(read, MAX_TOP, totalOf),
    ...biggestOf(largest(changed.human, 1, sizeOf('human'))[0], largest(changed.ai, 1, sizeOf('ai'))[0]),
    rising: moved('human', isRise),
    falling: moved('human', isFall),
    risingAi: moved('ai', isRise),
    fallingAi: moved('ai', isFall),
    fresh: largest(
      compared.filter((page) => totalOf(page.before) === 0 && page.human >= MIN_FRESH),
      MAX_LISTED,
      totalOf,
    ),
    quiet: largest(
      compared.filter((page) => totalOf(page) === 0 && totalOf(page.before) >= MIN_VIEWS),
      MAX_LISTED,
      (page) => totalOf(page.before),
    ),
    aiRead: largest(
      read.filter((page) => page.ai >= MIN_AI_VIEWS && 100 * page.ai >= MIN_AI_PERCENT * totalOf(page)),
      MAX_LISTED,
      (page) => page.ai,
    ),
  };
}

const isMarked =
  (by: keyof Counts) =>
  (page: PageChange): boolean => {
    const [now, past] = [page[by], page.before[by]];
    const isLarge = 100 * Math.abs(now - past) >= MIN_CHANGE_PERCENT * past;
    return now !== past && Math.max(now, past) >= MIN_VIEWS && isLarge;
  };

const sizeOf = (by: keyof Counts) => (page: PageChange) => Math.abs(page[by] - page.before[by]);

function biggestOf(human?: PageChange, ai?: PageChange): Pick<PageFigures, 'biggest'> {
  if (human !== undefined && (ai === undefined || sizeOf('human')(human) >= sizeOf('ai')(ai)))
    return { biggest: { page: human, by: 'human' } };
  return ai === undefined ? {} : { biggest: { page: ai, by: 'ai' } };
}

/** Returns the `max` largest pages; ties are ordered by path. */
function largest(pages: PageChange[], max: number, size: (page: PageChange) => number): PageChange[] {
  const kept: PageChange[] = [];
  const isBefore = (one: PageChange, other: PageChange) =>
    size(one) > size(other) || (size(one) === size(other) && one.path < other.path);
  for (const page of pages) {
    const last = kept.at(-1);
    if (kept.length === max && last !== undefined && !isBefore(page, last)) continue;
    const place = kept.findIndex((other) => isBefore(page, other));
    kept.splice(place < 0 ? kept.length : place, 0, page);
    if (kept.length > max) kept.pop();
  }
  return kept;
}
