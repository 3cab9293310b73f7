import { z } from 'zod';
import type { PagesOf } from '../../../store/figures.ts';
import { idOf } from '../../../store/keys.ts';
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

/** Parts of the readers' figures, in the order of requests; `visitors` and `feedback` take one request each. */
export const READER_PARTS = ['visitors', 'searches', 'feedback', 'questions'] as const;
export type ReaderPart = (typeof READER_PARTS)[number];

/**
 * The figures of a project for one range of days, shared by everybody who requests them. Times are epoch milliseconds.
 */
export const figuresRun = runBase.extend({
  job: z.literal('digest-figures'),
  project: z.string(),
  range: dayRange,
  /** Parts of the range with a total each. Together they are the range, unless an alert compares days. */
  spans: z.array(dayRange.extend({ counts: counts.optional() })),
  /** A person waits: it has priority, and uses the requests reserved for people. */
  urgent: z.boolean(),
  /** The person who requested it, if any, for their share of the requests. */
  by: z.string().optional(),
  /** Maximum number of requests; unlimited if missing. */
  maxRequests: z.number().int().optional(),
  requests: z.number().int(),
  /** The list of pages; missing if it is not requested. `tooMany`: more than `maxRequests` allows. */
  pages: z
    .object({ offset: z.number().int(), state: z.enum(['collecting', 'complete', 'tooMany']) })
    .optional(),
  /** The readers' figures; missing if they are not requested. */
  readers: z
    .object({
      done: z.array(z.enum(READER_PARTS)),
      figures: readerFigures,
      /** For a part of several requests: the cursor, the number of requests, and the counts so far. */
      cursor: z.string().optional(),
      partRequests: z.number().int().optional(),
      categories: z.record(z.string(), z.number()).default({}),
    })
    .optional(),
  state: z.enum(['collecting', 'ended']),
  sinceMs: z.number(),
  /** No request is made before this time. */
  nextMs: z.number(),
  /** Our own limit, or the platform's, delays it until this time. */
  limitedUntilMs: z.number().optional(),
  pollFailure: pollFailure
    .extend({
      sinceMs: z.number(),
      adminsTold: z.boolean().optional(),
      ...platformCause.omit({ kind: true }).shape,
    })
    .optional(),
  /** Why the rest is missing. */
  failed: z.enum(['project', 'platform']).optional(),
  cause: platformCause.optional(),
});
export type FiguresRun = z.infer<typeof figuresRun>;

/** A request for figures of a range. */
export type FiguresWanted = Pick<
  FiguresRun,
  'teamId' | 'project' | 'range' | 'urgent' | 'by' | 'maxRequests'
> & {
  spans: readonly DayRange[];
  pages: boolean;
  readers: boolean;
};

/** Returns the id of the run that collects them, the same for equal requests. */
function figuresId({ teamId, project, range, spans, pages, readers, maxRequests = 0 }: FiguresWanted) {
  const wanted = [pages ? 'pages' : '', readers ? 'readers' : '', String(maxRequests)];
  const days = spans.map(({ from, to }) => `${from} ${to}`);
  return idOf('digest-figures', teamId, project, range.from, range.to, ...wanted, ...days);
}

/** Returns the run that collects the requested figures. */
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

/** The key for the stored pages of a range. Only a person's digest is urgent. */
export const pagesOf = ({
  teamId,
  project,
  urgent,
}: Pick<FiguresRun, 'teamId' | 'project' | 'urgent'>): PagesOf => ({
  teamId,
  project,
  asked: urgent,
});

/** The name of a range in that store. */
export const rangeKey = ({ from, to }: DayRange) => `${from}..${to}`;

/** Returns why the platform gives no numbers now; undefined if it does, or if the project is missing. */
export function causeOf({
  pollFailure: trouble,
}: Pick<FiguresRun, 'pollFailure'>): PlatformCause | undefined {
  const cause = platformCause.safeParse(trouble);
  return cause.data;
}

/** Whether all spans have totals. */
export const hasTotals = ({ spans }: FiguresRun) => spans.every((span) => span.counts !== undefined);
