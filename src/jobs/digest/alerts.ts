import type { Counts } from './model.ts';

/** Days of the same weekday that decide what is usual. */
export const USUAL_DAYS = 8;

/** Below this, a day differs from others by chance. */
const MIN_USUAL = 200;
/** A day is unusual beyond so many median deviations, and beyond such a share of what is usual. */
const DEVIATIONS = 4;
const MIN_PERCENT = 30;

/** Views of a day that are not what they usually are; `usual` is rounded. */
export interface Alert {
  by: keyof Counts;
  now: number;
  usual: number;
}

/**
 * Returns for people and for AI whether the views of a day are unusual: outside the median of the same weekday in the
 * eight weeks before by more than four times their median deviation and more than 30%, where at least 200 are usual.
 * None before eight such days are known.
 */
export function alertsOf(day: Counts, sameWeekday: readonly Counts[]): Alert[] {
  if (sameWeekday.length < USUAL_DAYS) return [];
  return (['human', 'ai'] as const).flatMap((by) => {
    const known = sameWeekday.map((one) => one[by]);
    const usual = median(known);
    const deviation = median(known.map((views) => Math.abs(views - usual)));
    const allowed = Math.max(DEVIATIONS * deviation, (MIN_PERCENT * usual) / 100);
    const isUnusual = usual >= MIN_USUAL && Math.abs(day[by] - usual) > allowed;
    return isUnusual ? [{ by, now: day[by], usual: Math.round(usual) }] : [];
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1] ?? 0, sorted[middle] ?? 0];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}
