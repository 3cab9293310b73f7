import { z } from 'zod';

export const person = z.object({ id: z.string(), name: z.string() });

/** Views by people and by AI, of a page, a day or a site. Whole numbers. */
export const counts = z.object({ human: z.number(), ai: z.number() });
export type Counts = z.infer<typeof counts>;

export const totalOf = ({ human, ai }: Counts) => human + ai;

/** Days in UTC, `YYYY-MM-DD`: `from` is included, `to` is not. */
export const dayRange = z.object({ from: z.string(), to: z.string() });
export type DayRange = z.infer<typeof dayRange>;

export const pageCounts = counts.extend({ path: z.string() });
export type PageCounts = z.infer<typeof pageCounts>;

/** A page in a range, and in the range before. */
export const pageChange = pageCounts.extend({ before: counts });
export type PageChange = z.infer<typeof pageChange>;

/** The page figures of a digest; lists are short, the most important entry first. */
export const pageFigures = z.object({
  /** Pages with at least one view, and the sum of their views. */
  count: z.number().int(),
  sum: counts,
  /** The sum of views on listed pages in the range before, if pages are compared with it. */
  sumBefore: counts.optional(),
  top: z.array(pageChange),
  /** The largest change of one page, by people or by AI. */
  biggest: z.object({ page: pageChange, by: z.enum(['human', 'ai']) }).optional(),
  /** By people, and by AI, which may move the opposite way. */
  rising: z.array(pageChange),
  falling: z.array(pageChange),
  risingAi: z.array(pageChange).default([]),
  fallingAi: z.array(pageChange).default([]),
  fresh: z.array(pageChange),
  quiet: z.array(pageChange),
  /** Read by AI, rarely by people. */
  aiRead: z.array(pageChange),
});
export type PageFigures = z.infer<typeof pageFigures>;

/** The readers' figures. A part without numbers from the platform is missing. */
export const readerFigures = z.object({
  /** Searches whose results nobody clicked. */
  searches: z.array(z.object({ query: z.string(), hits: z.number() })).optional(),
  /** Pages with thumbs, as many as the platform lists, those with more down than up first. */
  thumbs: z.array(z.object({ path: z.string(), up: z.number(), down: z.number() })).optional(),
  /** Questions to the assistant; `before` is for the range before. */
  questions: z
    .object({
      asked: z.number(),
      unanswered: z.number(),
      category: z.string().optional(),
      before: z.object({ asked: z.number(), unanswered: z.number() }).optional(),
    })
    .optional(),
  /** Approximate visitors, people and AI together without duplicates. */
  visitors: z.object({ total: z.number(), before: z.number().optional() }).optional(),
});
export type ReaderFigures = z.infer<typeof readerFigures>;

/** Why the platform gives no numbers; `said` is its own words. */
export const platformCause = z.object({
  kind: z.enum(['key', 'forbidden', 'lost', 'limit', 'down']),
  status: z.number().optional(),
  said: z.string().optional(),
});
export type PlatformCause = z.infer<typeof platformCause>;

/** Whether it lasts until a person fixes it. */
export const isRefusal = ({ kind }: { kind: string }) => ['key', 'forbidden', 'lost'].includes(kind);

/** Parts of a digest that can be left out. */
export const SECTIONS = ['pages', 'readers', 'csv'] as const;
export type Section = (typeof SECTIONS)[number];

/** Returns the sum of views. */
export function addCounts(all: Iterable<Counts>): Counts {
  const sum = { human: 0, ai: 0 };
  for (const { human, ai } of all) {
    sum.human += human;
    sum.ai += ai;
  }
  return sum;
}

/** Entries of a list; no more search terms are kept. */
export const MAX_LISTED = 5;

/** Pages with fewer thumbs do not count. */
const MIN_THUMBS = 3;

/** Returns the most frequent searches without a click. */
export const listedSearches = ({ searches = [] }: ReaderFigures = {}) => searches.slice(0, MAX_LISTED);

/** Returns the pages with more thumbs down than up, if they have enough of them. */
export const listedThumbs = ({ thumbs = [] }: ReaderFigures = {}) =>
  thumbs.filter(({ up, down }) => down > up && up + down >= MIN_THUMBS).slice(0, MAX_LISTED);

/** Rows of the table of top pages. */
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
 * The order is total, so the same numbers always give the same figures.
 *
 * Views are whole numbers from 0: `figures/requests.ts` rounds the platform's numbers.
 */
export function pageFiguresOf(pages: Iterable<PageCounts>, before?: Iterable<PageCounts>): PageFigures {
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
const largest = (pages: PageChange[], max: number, size: (page: PageChange) => number): PageChange[] =>
  pages.toSorted((one, other) => size(other) - size(one) || (one.path < other.path ? -1 : 1)).slice(0, max);
