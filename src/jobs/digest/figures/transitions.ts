import { retention } from '../../../runtime/timing.ts';
import { settledAtMs } from '../weeks.ts';
import type { FiguresRun } from './record.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * The record outlives its pages. Whoever wants them has them read within the last two days of theirs; who asked for dates
 * waits for hours at most, so one day is left.
 */
const pagesUsedMs = ({ urgent }: FiguresRun) =>
  urgent ? retention.askedPageFiguresMs - DAY_MS : retention.pageFiguresMs - 2 * DAY_MS;

/**
 * Returns how figures are collected once more that somebody wants and that were `known` already: what failed goes on
 * where it stopped; a range that could still change, or whose pages may be dropped by now, begins again. What waits after a
 * failure is asked for at once. Nothing when they can be used, or are on their way.
 */
export function collectAgain(known: FiguresRun, wanted: FiguresRun, nowMs: number): FiguresRun | undefined {
  if (known.state !== 'ended')
    return known.pollFailure && known.pollFailure.kind !== 'limit'
      ? { ...known, pollFailure: undefined, nextMs: nowMs }
      : undefined;
  const fresh = { ...wanted, rev: known.rev };
  if (known.pages !== undefined && nowMs - known.sinceMs > pagesUsedMs(known)) return fresh;
  const wasSettled = settledAtMs(known.range) <= known.sinceMs;
  if (known.failed !== undefined && wasSettled)
    return {
      ...known,
      state: 'collecting',
      failed: undefined,
      cause: undefined,
      requests: 0,
      sinceMs: nowMs,
      nextMs: nowMs,
    };
  return wasSettled ? undefined : fresh;
}
