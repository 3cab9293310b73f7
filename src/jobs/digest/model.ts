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

/** Entries of a line; no more search terms are kept. */
export const MAX_LISTED = 5;

/** Pages with fewer thumbs do not count. */
const MIN_THUMBS = 3;

/** Returns the most frequent searches without a click. */
export const listedSearches = ({ searches = [] }: ReaderFigures = {}) => searches.slice(0, MAX_LISTED);

/** Returns the pages with more thumbs down than up, if they have enough of them. */
export const listedThumbs = ({ thumbs = [] }: ReaderFigures = {}) =>
  thumbs.filter(({ up, down }) => down > up && up + down >= MIN_THUMBS).slice(0, MAX_LISTED);
