import { z } from 'zod';
import { retention } from '../../../runtime/timing.ts';
import { idOf } from '../../../store/keys.ts';
import { runBase } from '../../../store/runs.ts';
import type { JobContext } from '../../context.ts';
import { pollFailure } from '../../polling.ts';
import {
  counts,
  type DayRange,
  dayRange,
  type PlatformCause,
  platformCause,
  readerFigures,
} from '../model.ts';
import { settledAtMs } from '../weeks.ts';

const DAY_MS = 86_400_000;

/** Parts of the readers' figures, in the order of requests. */
export const READER_PARTS = ['visitors', 'searches', 'feedback', 'questions'] as const;
export type ReaderPart = (typeof READER_PARTS)[number];

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
  /** The list of pages; missing if it is not requested. `tooMany`: more than `maxRequests` allows. */
  pages: z
    .object({ offset: z.number().int(), state: z.enum(['collecting', 'complete', 'tooMany']) })
    .optional(),
  /** The readers' figures; missing if they are not requested. */
  readers: z
    .object({
      done: z.array(z.enum(READER_PARTS)),
      figures: readerFigures,
      /** A part of several requests: its cursor, the number of requests, and the questions counted so far. */
      open: z
        .object({
          cursor: z.string(),
          requests: z.number().int(),
          asked: z.number(),
          unanswered: z.number(),
          categories: z.record(z.string(), z.number()),
        })
        .optional(),
    })
    .optional(),
  state: z.enum(['collecting', 'ended']),
  sinceMs: z.number(),
  /** No request is made before this time. */
  nextMs: z.number(),
  /** Our own limit, or the platform's, delays it until this time. */
  limitedUntilMs: z.number().optional(),
  /** Kept at the end, if it is why figures are missing. */
  pollFailure: pollFailure
    .extend({ sinceMs: z.number(), ...platformCause.omit({ kind: true }).shape })
    .optional(),
  /** Why the rest is missing. */
  failed: z.enum(['project', 'platform']).optional(),
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
  const { teamId, project, range, maxRequests } = rest;
  const what = [pages ? 'pages' : '', readers ? 'readers' : '', String(maxRequests ?? 0)];
  const days = spans.map(({ from, to }) => `${from} ${to}`);
  return {
    ...{ job: 'digest-figures', rev: 1, people: [] },
    ...rest,
    id: idOf('digest-figures', teamId, project, range.from, range.to, ...what, ...days),
    spans: [...spans],
    requests: 0,
    ...(pages && { pages: { offset: 0, state: 'collecting' as const } }),
    ...(readers && { readers: { done: [], figures: {} } }),
    state: 'collecting',
    sinceMs: nowMs,
    nextMs: nowMs,
  };
}

/** The name of a range in the store of pages. */
export const rangeKey = ({ from, to }: DayRange) => `${from}..${to}`;

/** Returns why the platform gives no numbers; undefined if it does, or if the project is missing. */
export const causeOf = ({ pollFailure }: Pick<FiguresRun, 'pollFailure'>): PlatformCause | undefined =>
  platformCause.safeParse(pollFailure).data;

/** Whether all spans have totals. */
export const hasTotals = ({ spans }: FiguresRun) => spans.every((span) => span.counts !== undefined);

/** Whether its range could no longer change when the run began. */
export const isSettled = ({ range, sinceMs }: FiguresRun) => settledAtMs(range) <= sinceMs;

/** Pages expire before the record. A digest uses them within two days. */
const USED_MS = retention.pageFiguresMs - 2 * DAY_MS;

/**
 * Starts collecting missing figures, once for equal requests, and returns them as they are. If known figures failed before
 * this request, could still change, or may have expired, collecting begins again, without stored days and lists. A pause
 * after an earlier failure ends at once.
 */
export async function collectFigures(
  wanted: FiguresRun,
  { runs, wake }: Pick<JobContext, 'runs' | 'wake'>,
): Promise<FiguresRun> {
  const isNew = (await runs.accept(wanted)).kind === 'accepted';
  if (isNew) await wake(wanted);
  const [known] = isNew ? [] : await runs.loadAll([wanted.id], figuresRun);
  if (known === undefined) return wanted;
  const { state, pollFailure, sinceMs, failed, rev } = known;
  const isPaused = pollFailure !== undefined && pollFailure.kind !== 'limit';
  const isUsable =
    state === 'collecting'
      ? !isPaused || pollFailure.sinceMs >= wanted.sinceMs
      : (failed === undefined || sinceMs >= wanted.sinceMs) &&
        isSettled(known) &&
        wanted.sinceMs - sinceMs <= USED_MS;
  if (isUsable) return known;
  const again =
    state === 'collecting' ? { ...known, pollFailure: undefined, nextMs: wanted.nextMs } : { ...wanted, rev };
  await runs.resume(again);
  await wake(again);
  return again;
}
