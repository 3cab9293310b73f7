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
 * Returns the page figures of a digest's range, compared with the range before. Without `before` nothing is compared,
 * and pages have 0 there. If a path comes twice, the last one counts. The order is total, so the same numbers always
 * give the same figures; the time is linear.
 *
 * Views are whole numbers from 0: `figures/requests.ts` rounds the platform's numbers.
 */
export function pageFigures(pages: Iterable<PageCounts>, before?: Iterable<PageCounts>): PageFigures {
  const earlier = byPath(before ?? []);
  const sum = { human: 0, ai: 0 };
  const sumBefore = before && addCounts(earlier.values());
  let count = 0;
  const top = createList(MAX_TOP, ({ page }) => totalOf(page));
  const aiRead = createList(MAX_LISTED, ({ page }) => page.ai);
  const rising = { human: createList(MAX_MOVED, sizeOf('human')), ai: createList(MAX_MOVED, sizeOf('ai')) };
  const falling = {
    human: createList(MAX_MOVED, sizeOf('human')),
    ai: createList(MAX_MOVED, sizeOf('ai')),
  };
  const fresh = createList(MAX_LISTED, ({ change }) => change);
  const quiet = createList(MAX_LISTED, ({ change }) => -change);
  const biggest = { human: createList(1, sizeOf('human')), ai: createList(1, sizeOf('ai')) };

  const compare = (one: Compared) => {
    const [now, past] = [totalOf(one.page), totalOf(one.page.before)];
    if (past === 0 && one.page.human >= MIN_FRESH) fresh.add(one);
    if (now === 0 && past >= MIN_VIEWS) quiet.add(one);
    for (const by of ['human', 'ai'] as const) {
      const [views, before] = [one.page[by], one.page.before[by]];
      if (!isMarked(views, before)) continue;
      biggest[by].add(one);
      // New and quiet pages have lists of their own.
      if (past > 0 && now > 0) (views > before ? rising : falling)[by].add(one);
    }
  };

  for (const { path, human, ai } of byPath(pages).values()) {
    const { human: humanBefore, ai: aiBefore } = earlier.get(path) ?? NONE;
    earlier.delete(path);
    const one = compared({ path, human, ai, before: { human: humanBefore, ai: aiBefore } });
    if (human + ai > 0) {
      count += 1;
      sum.human += human;
      sum.ai += ai;
      top.add(one);
      if (ai >= MIN_AI_VIEWS && 100 * ai >= MIN_AI_PERCENT * (human + ai)) aiRead.add(one);
    }
    if (before !== undefined) compare(one);
  }
  // The remaining pages had no views in this range.
  for (const { path, human, ai } of earlier.values())
    compare(compared({ path, ...NONE, before: { human, ai } }));

  return {
    count,
    sum,
    ...(sumBefore && { sumBefore }),
    top: top.pages(),
    ...biggestOf(biggest.human.pages()[0], biggest.ai.pages()[0]),
    rising: rising.human.pages(),
    falling: falling.human.pages(),
    risingAi: rising.ai.pages(),
    fallingAi: falling.ai.pages(),
    fresh: fresh.pages(),
    quiet: quiet.pages(),
    aiRead: aiRead.pages(),
  };
}

const NONE: Counts = { human: 0, ai: 0 };

const byPath = (pages: Iterable<PageCounts>) => {
  const found = new Map<string, PageCounts>();
  for (const page of pages) found.set(page.path, page);
  return found;
};

/** A page, and its change of views. */
interface Compared {
  page: PageChange;
  change: number;
}

const compared = (page: PageChange): Compared => ({ page, change: totalOf(page) - totalOf(page.before) });

const isMarked = (now: number, past: number) =>
  now !== past && Math.max(now, past) >= MIN_VIEWS && 100 * Math.abs(now - past) >= MIN_CHANGE_PERCENT * past;

const sizeOf =
  (by: keyof Counts) =>
  ({ page }: Compared) =>
    Math.abs(page[by] - page.before[by]);

function biggestOf(human?: PageChange, ai?: PageChange): Pick<PageFigures, 'biggest'> {
  const size = (page: PageChange | undefined, by: keyof Counts) =>
    page === undefined ? 0 : Math.abs(page[by] - page.before[by]);
  if (human !== undefined && size(human, 'human') >= size(ai, 'ai'))
    return { biggest: { page: human, by: 'human' } };
  return ai === undefined ? {} : { biggest: { page: ai, by: 'ai' } };
}

/** Keeps the `max` largest entries; ties are ordered by path. */
function createList(max: number, size: (one: Compared) => number) {
  const kept: Compared[] = [];
  const isBefore = (one: Compared, other: Compared) =>
    size(one) > size(other) || (size(one) === size(other) && one.page.path < other.page.path);
  return {
    add(one: Compared) {
      const last = kept.at(-1);
      if (kept.length === max && last !== undefined && !isBefore(one, last)) return;
      const place = kept.findIndex((other) => isBefore(one, other));
      kept.splice(place < 0 ? kept.length : place, 0, one);
      if (kept.length > max) kept.pop();
    },
    pages: () => kept.map(({ page }) => page),
  };
}
