import { z } from 'zod';
import { retention } from '../../../runtime/timing.ts';
import { pagesKeptMs } from '../../../store/figures.ts';
import { idOf } from '../../../store/keys.ts';
import { runBase } from '../../../store/runs.ts';
import type { JobContext } from '../../engine/context.ts';
import { pollFailure } from '../../engine/polling.ts';
import {
  asked,
  counts,
  type DayRange,
  dayRange,
  type PlatformCause,
  platformCause,
  readerFigures,
} from '../model.ts';
import { finalAtMs } from '../weeks.ts';

/** Parts of the readers' figures, in the order of requests. */
export const READER_PARTS = ['visitors', 'searches', 'feedback', 'questions'] as const;

/**
 * The figures of a project for one range of days, shared by everybody who requests them. Times are epoch milliseconds.
 */
export const figuresRun = runBase.extend({
  job: z.literal('digest-figures'),
  project: z.string(),
  range: dayRange,
  /** Parts of the range with a total each. */
  spans: z.array(dayRange.extend({ counts: counts.optional() })),
  /** A person waits: it may use the requests reserved for people. */
  urgent: z.boolean(),
  /** Maximum number of requests; unlimited if missing. */
  maxRequests: z.number().int().optional(),
  requests: z.number().int(),
  /** The list of pages; missing if it is not requested. */
  pages: z.object({ offset: z.number().int(), isComplete: z.boolean() }).optional(),
  /** The readers' figures; missing if they are not requested. */
  readers: z
    .object({
      done: z.array(z.enum(READER_PARTS)),
      figures: readerFigures,
      /** The most frequent searches with a clicked page, at most `MAX_CLICKED`, if a schedule collects them; `rate` is on the platform's scale. */
      clicked: z
        .array(
          z.object({ query: z.string(), hits: z.number(), rate: z.number().optional(), page: z.string() }),
        )
        .optional(),
      /** A part of several requests: its cursor, the number of requests, and the questions counted so far, by topic. */
      open: asked
        .extend({
          cursor: z.string(),
          requests: z.number().int(),
          topics: z.record(z.string(), asked),
        })
        .optional(),
    })
    .optional(),
  state: z.enum(['collecting', 'ended']),
  sinceMs: z.number(),
  /** Why no request is made before `nextMs`; at the end, why figures are missing. A `limit` without `status` is ours. */
  pollFailure: pollFailure.extend({ ...platformCause.shape, sinceMs: z.number() }).optional(),
});
export type FiguresRun = z.infer<typeof figuresRun>;

/** Returns the run that collects the requested figures; its id is the same for equal requests. */
export function newFiguresRun(
  wanted: Pick<FiguresRun, 'teamId' | 'project' | 'range' | 'urgent' | 'maxRequests'> & {
    spans: readonly DayRange[];
    pages: boolean;
    readers: boolean;
  },
  nowMs: number,
): FiguresRun {
  const { spans, pages, readers, ...rest } = wanted;
  return {
    job: 'digest-figures',
    rev: 1,
    people: [],
    ...rest,
    id: idOf('digest-figures', JSON.stringify(Object.entries(wanted).toSorted())),
    keptMs: Math.max(retention.runMs, pagesKeptMs(wanted.range)),
    spans: [...spans],
    requests: 0,
    ...(pages && { pages: { offset: 0, isComplete: false } }),
    ...(readers && { readers: { done: [], figures: {}, ...(!wanted.urgent && { clicked: [] }) } }),
    state: 'collecting',
    sinceMs: nowMs,
  };
}

/** Returns what delays it, or, at its end, why figures are missing. */
export const causeOf = ({ pollFailure }: FiguresRun): PlatformCause | undefined =>
  pollFailure && platformCause.parse(pollFailure);

/** Whether all spans have totals. */
export const hasTotals = ({ spans }: FiguresRun) => spans.every((span) => span.counts !== undefined);

/** Whether the views of its range could no longer change when the run began. */
export const isRangeFinal = ({ range, sinceMs }: FiguresRun) => finalAtMs(range) <= sinceMs;

/** Pages expire with the record or before it. A digest uses them within two days. */
const usedMs = ({ range }: FiguresRun) => pagesKeptMs(range) - 2 * 86_400_000;

/**
 * Starts collecting missing figures, once for equal requests, and returns them as they are. If known figures failed before
 * this request, could still change, or may have expired, collecting begins again. It reuses stored days and lists.
 */
export async function collectFigures(
  wanted: FiguresRun,
  { wake, store: { runs } }: Pick<JobContext, 'store' | 'wake'>,
) {
  const isNew = (await runs.accept(wanted)).kind === 'accepted';
  if (isNew) await wake(wanted);
  const [known] = isNew ? [] : await runs.loadAll([wanted.id], figuresRun);
  if (known === undefined) return wanted;
  const { state, pollFailure, sinceMs, rev } = known;
  const isCollecting = state === 'collecting';
  const hasFailed = pollFailure !== undefined && !(isCollecting && pollFailure.kind === 'limit');
  const isCurrent = isCollecting || (isRangeFinal(known) && wanted.sinceMs - sinceMs <= usedMs(known));
  if (isCurrent && (!hasFailed || sinceMs >= wanted.sinceMs)) return known;
  const again = { ...wanted, rev };
  await runs.resume(again);
  await wake(again);
  return again;
}
