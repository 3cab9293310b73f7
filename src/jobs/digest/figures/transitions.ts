import { retention } from '../../../runtime/timing.ts';
import { settledAtMs } from '../weeks.ts';
import type { FiguresRun } from './record.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * The record outlives its pages. Digests use the pages within two days before they expire; a person's request waits for
 * hours at most, so one day is left.
 */
const pagesUsedMs = ({ urgent }: FiguresRun) =>
  urgent ? retention.askedPageFiguresMs - DAY_MS : retention.pageFiguresMs - 2 * DAY_MS;

/**
 * Returns how to collect figures again that were `known` already. A failed run resumes; a range that could still
 * change, or whose pages may have expired, begins again. A pause after a failure ends at once. Returns undefined if the
 * figures are usable, or in progress.
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
