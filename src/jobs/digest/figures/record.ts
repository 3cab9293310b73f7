import { z } from 'zod';
import type { PagesOf } from '../../../store/figures.ts';
import { idOf } from '../../../store/ids.ts';
import { runBase } from '../../../store/runs.ts';
import { pollFailure } from '../../poll-record.ts';
import {
  counts,
  type DayRange,
  dayRange,
  type PlatformCause,
  platformCause,
  readerFigures,
} from '../model.ts';

/** What readers looked for, in the order in which it is asked; `visitors` and `feedback` are one request each. */
export const READER_PARTS = ['visitors', 'searches', 'feedback', 'questions'] as const;
export type ReaderPart = (typeof READER_PARTS)[number];

/**
 * The figures of one range of days of a project, as they are collected: shared by everybody who wants them. Times are
 * epoch milliseconds.
 */
export const figuresRun = runBase.extend({
  job: z.literal('digest-figures'),
  project: z.string(),
  range: dayRange,
  /** Parts of the range whose totals are wanted; together they are the range, unless an alert compares days. */
  spans: z.array(dayRange.extend({ counts: counts.optional() })),
  /** Somebody waits: it goes first, out of the requests that are kept for people. */
  urgent: z.boolean(),
  /** Who asked, when somebody did: their share of the requests. */
  by: z.string().optional(),
  /** Requests that it may make; without it as many as it takes. */
  maxRequests: z.number().int().optional(),
  requests: z.number().int(),
  /** The list of pages; missing when it is not wanted. `tooMany`: more than `maxRequests` allows. */
  pages: z
    .object({ offset: z.number().int(), state: z.enum(['collecting', 'complete', 'tooMany']) })
    .optional(),
  /** What readers looked for; missing when it is not wanted. */
  readers: z
    .object({
      done: z.array(z.enum(READER_PARTS)),
      figures: readerFigures,
      /** Of a part that takes several requests: where it goes on, after how many, and what is counted so far. */
      cursor: z.string().optional(),
      partRequests: z.number().int().optional(),
      categories: z.record(z.string(), z.number()).default({}),
    })
    .optional(),
  state: z.enum(['collecting', 'ended']),
  sinceMs: z.number(),
  /** No request is made before. */
  nextMs: z.number(),
  /** Our own limit, or the platform's, holds it up until then. */
  limitedUntilMs: z.number().optional(),
  pollFailure: pollFailure
    .extend({
      sinceMs: z.number(),
      adminsTold: z.boolean().optional(),
      ...platformCause.omit({ kind: true }).shape,
    })
    .optional(),
  /** Why the rest cannot be had. */
  failed: z.enum(['project', 'platform']).optional(),
  cause: platformCause.optional(),
});
export type FiguresRun = z.infer<typeof figuresRun>;

/** What somebody wants to know of a range. */
export type FiguresWanted = Pick<
  FiguresRun,
  'teamId' | 'project' | 'range' | 'urgent' | 'by' | 'maxRequests'
> & {
  spans: readonly DayRange[];
  pages: boolean;
  readers: boolean;
};

/** Returns the id of the run that collects it, the same for everybody who wants the same. */
function figuresId({ teamId, project, range, spans, pages, readers, maxRequests = 0 }: FiguresWanted) {
  const wanted = [pages ? 'pages' : '', readers ? 'readers' : '', String(maxRequests)];
  const days = spans.map(({ from, to }) => `${from} ${to}`);
  return idOf('digest-figures', teamId, project, range.from, range.to, ...wanted, ...days);
}

/** Returns the run that collects what is wanted. */
export function newFiguresRun(wanted: FiguresWanted, nowMs: number): FiguresRun {
  const { teamId, project, range, spans, urgent, by, maxRequests } = wanted;
  return {
    id: figuresId(wanted),
    teamId,
    job: 'digest-figures',
    rev: 1,
    people: [],
    project,
    range,
    spans: spans.map((span) => ({ ...span })),
    urgent,
    by,
    maxRequests,
    requests: 0,
    ...(wanted.pages && { pages: { offset: 0, state: 'collecting' as const } }),
    ...(wanted.readers && { readers: { done: [], figures: {}, categories: {} } }),
    state: 'collecting',
    sinceMs: nowMs,
    nextMs: nowMs,
  };
}

/** Where the pages of a range are kept. A digest that somebody asked for is urgent, and no other is. */
export const pagesOf = ({
  teamId,
  project,
  urgent,
}: Pick<FiguresRun, 'teamId' | 'project' | 'urgent'>): PagesOf => ({
  teamId,
  project,
  asked: urgent,
});

/** How a range is named there. */
export const rangeKey = ({ from, to }: DayRange) => `${from}..${to}`;

/** Returns why the platform gives no numbers now; nothing where it does, or where the project is gone. */
export function causeOf({
  pollFailure: trouble,
}: Pick<FiguresRun, 'pollFailure'>): PlatformCause | undefined {
  const cause = platformCause.safeParse(trouble);
  return cause.data;
}

/** Whether the totals of all spans are there. */
export const hasTotals = ({ spans }: FiguresRun) => spans.every((span) => span.counts !== undefined);
