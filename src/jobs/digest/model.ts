import { z } from 'zod';
import { UNANSWERED } from './buttons.ts';

/** Views by people and by AI, of a page, a day or a site. Whole numbers. */
export const counts = z.object({ human: z.number(), ai: z.number() });
export type Counts = z.infer<typeof counts>;

export const totalOf = ({ human, ai }: Counts) => human + ai;

/** Days in UTC, `YYYY-MM-DD`: `from` is included, `to` is not. */
export const dayRange = z.object({ from: z.string(), to: z.string() });
export type DayRange = z.infer<typeof dayRange>;

const pageCounts = counts.extend({ path: z.string() });
export type PageCounts = z.infer<typeof pageCounts>;

/** A page in a range, and in the range before. */
const pageChange = pageCounts.extend({ before: counts });
export type PageChange = z.infer<typeof pageChange>;

export const biggestChange = z.object({ page: pageChange, by: z.enum(['human', 'ai']) });

/** The page figures of a digest; lists are short, the most important entry first. */
export const pageFigures = z.object({
  /** Pages with at least one view, and the sum of their views. */
  count: z.number().int(),
  sum: counts,
  /** The sum of views on listed pages in the range before, if pages are compared with it. */
  sumBefore: counts.optional(),
  top: z.array(pageChange),
  /** The largest change of one page, by people or by AI. */
  biggest: biggestChange.optional(),
  /** By people, and by AI, which may move the opposite way. */
  rising: z.array(pageChange),
  falling: z.array(pageChange),
  risingAi: z.array(pageChange),
  fallingAi: z.array(pageChange),
  fresh: z.array(pageChange),
  quiet: z.array(pageChange),
  /** Read by AI, rarely by people. */
  aiRead: z.array(pageChange),
});
export type PageFigures = z.infer<typeof pageFigures>;

/** How many questions to the assistant were asked, and left without an answer. */
export const asked = z.object({ asked: z.number(), unanswered: z.number() });

/** The readers' figures. A part without numbers from the platform is missing. */
export const readerFigures = z.object({
  /** The most frequent searches whose results nobody clicked; in a digest, those it shows. */
  searches: z.array(z.object({ query: z.string(), hits: z.number() })).optional(),
  /** Pages with thumbs, as many as the platform lists, those with more down than up first. */
  thumbs: z.array(z.object({ path: z.string(), up: z.number(), down: z.number() })).optional(),
  /** Questions to the assistant; `topics` are their categories with unanswered ones, the most unanswered first. */
  questions: z
    .object({
      ...asked.shape,
      category: z.string().optional(),
      topics: z.array(asked.extend({ name: z.string() })).optional(),
    })
    .optional(),
  /** Approximate visitors, people and AI together without duplicates. */
  visitors: z.object({ total: z.number() }).optional(),
  /** Lists that may lack what they should have: the platform has more, or reading stopped before the end. */
  cut: z.partialRecord(z.enum(['searches', 'thumbs', 'questions']), z.boolean().optional()).optional(),
});
export type ReaderFigures = z.infer<typeof readerFigures>;

/** Why there are no numbers; `platformMessage` is the platform's own words, `project` a project missing from the settings. */
export const platformCause = z.object({
  kind: z.enum(['key', 'forbidden', 'lost', 'project', 'limit', 'down']),
  status: z.number().optional(),
  platformMessage: z.string().optional(),
});
export type PlatformCause = z.infer<typeof platformCause>;

/** Whether it lasts until a person fixes it. */
export const isRefusal = ({ kind }: { kind: string }) =>
  ['key', 'forbidden', 'lost', 'project'].includes(kind);

/** Parts of a digest that can be left out. */
export const SECTIONS = ['pages', 'readers', 'csv'] as const;
export type Section = (typeof SECTIONS)[number];

/** Returns the sum of views. */
export const addCounts = (all: readonly Counts[]): Counts =>
  all.reduce((sum, { human, ai }) => ({ human: sum.human + human, ai: sum.ai + ai }), NONE);

/** Entries of a list. */
export const MAX_LISTED = 5;

/** Topics that are kept for the choice of those that are listed. */
export const MAX_TOPICS = 20;

/** Pages with thumbs, as many as the platform lists. */
export const MAX_THUMBS = 100;

const MIN_THUMBS = 3;

/** Returns the pages with more thumbs down than up, if they have enough of them. */
export const badThumbs = ({ thumbs = [] }: ReaderFigures = {}) =>
  thumbs.filter(({ up, down }) => down > up && up + down >= MIN_THUMBS);

export const listedThumbs = (readers?: ReaderFigures) => badThumbs(readers).slice(0, MAX_LISTED);

const MAX_LISTED_TOPICS = 3;
/** Fewer unanswered questions are no topic. */
const MIN_UNANSWERED = 3;

/** Returns the topics with enough unanswered questions. */
export const openTopics = ({ questions }: ReaderFigures = {}) =>
  (questions?.topics ?? []).filter(({ unanswered }) => unanswered >= MIN_UNANSWERED);

export const listedTopics = (readers?: ReaderFigures) => openTopics(readers).slice(0, MAX_LISTED_TOPICS);

/** Returns what a digest lists of the questions that have no answer. Without topics, they are one thing. */
export function openQuestions(readers?: ReaderFigures) {
  const [topics, all] = [listedTopics(readers), readers?.questions];
  return topics.length === 0 && all?.unanswered ? [{ ...all, name: UNANSWERED }] : topics;
}

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

type Pages = Iterable<PageCounts[]> | AsyncIterable<PageCounts[]>;

const NONE: Counts = { human: 0, ai: 0 };

/** Returns each page of either range with its views in both. If a path comes twice, the last one counts. */
export async function comparePages(pages: Pages, earlier: Pages = []): Promise<PageChange[]> {
  const all = new Map<string, PageChange>();
  for await (const some of earlier)
    for (const { path, ...before } of some) all.set(path, { path, ...NONE, before });
  for await (const some of pages)
    for (const page of some) all.set(page.path, { ...page, before: all.get(page.path)?.before ?? NONE });
  return [...all.values()];
}

/**
 * Returns the page figures of a digest's range. Without `isCompared` nothing is compared with the range before. The order
 * is total, so the same numbers always give the same figures. Views are whole numbers from 0.
 */
export function pageFiguresOf(pages: readonly PageChange[], isCompared: boolean): PageFigures {
  const read = pages.filter((page) => totalOf(page) > 0);
  const compared = isCompared ? pages : [];
  const marked = { human: compared.filter(isMarked('human')), ai: compared.filter(isMarked('ai')) };
  // New and quiet pages have lists of their own.
  const isInBoth = (page: PageChange) => totalOf(page) > 0 && totalOf(page.before) > 0;
  const moved = (by: keyof Counts, way: 1 | -1) => {
    const isSo = (page: PageChange) => isInBoth(page) && Math.sign(page[by] - page.before[by]) === way;
    return largest(marked[by].filter(isSo), MAX_MOVED, sizeOf(by));
  };
  const [biggest] = (['human', 'ai'] as const)
    .flatMap((by) => largest(marked[by], 1, sizeOf(by)).map((page) => ({ page, by })))
    .toSorted((one, other) => sizeOf(other.by)(other.page) - sizeOf(one.by)(one.page));
  const isFresh = (page: PageChange) => totalOf(page.before) === 0 && page.human >= MIN_FRESH;
  const isQuiet = (page: PageChange) => totalOf(page) === 0 && totalOf(page.before) >= MIN_VIEWS;
  const isForAi = (page: PageChange) =>
    page.ai >= MIN_AI_VIEWS && 100 * page.ai >= MIN_AI_PERCENT * totalOf(page);
  return {
    count: read.length,
    sum: addCounts(read),
    ...(isCompared && { sumBefore: addCounts(pages.map((page) => page.before)) }),
    top: largest(read, MAX_TOP, totalOf),
    ...(biggest && { biggest }),
    rising: moved('human', 1),
    falling: moved('human', -1),
    risingAi: moved('ai', 1),
    fallingAi: moved('ai', -1),
    fresh: largest(compared.filter(isFresh), MAX_LISTED, totalOf),
    quiet: largest(compared.filter(isQuiet), MAX_LISTED, (page) => totalOf(page.before)),
    aiRead: largest(read.filter(isForAi), MAX_LISTED, (page) => page.ai),
  };
}

const isMarked = (by: keyof Counts) => (page: PageChange) => {
  const [now, past] = [page[by], page.before[by]];
  const isLarge = 100 * Math.abs(now - past) >= MIN_CHANGE_PERCENT * past;
  return now !== past && Math.max(now, past) >= MIN_VIEWS && isLarge;
};

const sizeOf = (by: keyof Counts) => (page: PageChange) => Math.abs(page[by] - page.before[by]);

/** Returns the `max` largest pages; ties are ordered by path. */
const largest = (pages: readonly PageChange[], max: number, size: (page: PageChange) => number) =>
  pages.toSorted((one, other) => size(other) - size(one) || (one.path < other.path ? -1 : 1)).slice(0, max);
