import { z } from 'zod';
import type { Counts } from './model.ts';

const WEEK = 7;
/** Days before a day that decide what is usual: eight of each weekday. */
export const USUAL_DAYS = 8 * WEEK;
/** After an alert about people or AI, days without another one about the same; after one about a lasting fall, more. */
export const QUIET_DAYS = 7;
const LASTING_QUIET_DAYS = 28;

/** Where a day has fewer views, and fewer are usual, it differs from others by chance. */
const MIN_VIEWS = 200;
/** Fewer are usual where counting only begins, and none at all say nothing. */
const MIN_USUAL = 20;
/** A day is unusual beyond so many standard deviations, and from such a share of what is usual. */
const DEVIATIONS = 4;
const MIN_SHARE = 0.4;
/** A week has less of both: what is low on most of its days is no chance. */
const LASTING_DEVIATIONS = 1.5;
const LASTING_SHARE = 0.25;
/** How a standard deviation follows from the median of the deviations. */
const OF_MEDIAN = 1.4826;

/** Views of a day that are not what they usually are; those of a `lasting` fall are a day's of the last week. */
export interface Alert {
  by: keyof Counts;
  now: number;
  usual: number;
  lasting?: boolean | undefined;
}

const quietSeries = z.object({
  until: z.string(),
  /** How far what was told had moved, and whether that was no views at all. */
  move: z.number(),
  zero: z.boolean(),
});

/** Until which day nothing like what was told is told again, for people and for AI. */
export const quiet = z.object({ human: quietSeries.optional(), ai: quietSeries.optional() });
export type Quiet = z.infer<typeof quiet>;

/**
 * Returns for people and for AI whether the views of a day are unusual. `days` are the day itself and those before it,
 * the latest first; none is unusual before `USUAL_DAYS` are known.
 *
 * Numbers of views are compared by their logarithms, where a half and a double are as far away. What is usual is the
 * median of the same weekday; the standard deviation comes from all days, since eight tell too little.
 */
export function alertsOf(days: readonly Counts[]): Alert[] {
  if (days.length <= USUAL_DAYS) return [];
  return (['human', 'ai'] as const).flatMap((by) => alertOf(by, days.slice(0, USUAL_DAYS + 1)) ?? []);
}

function alertOf(by: keyof Counts, days: readonly Counts[]): Alert | undefined {
  const logs = days.map((day) => Math.log1p(day[by]));
  /** What is usual on the weekday of a day, by those that are at least so many days ago. */
  const usualLog = (ago: number, since: number) =>
    median(logs.filter((_, at) => at >= since && at % WEEK === ago % WEEK));
  const distances = logs.slice(1).map((log, index) => Math.abs(log - usualLog(index + 1, 1)));
  const deviation = OF_MEDIAN * median(distances);

  const [now = 0] = days.map((day) => day[by]);
  const usual = Math.round(Math.expm1(usualLog(0, 1)));
  const isFar = Math.abs(Math.log1p(now) - usualLog(0, 1)) > DEVIATIONS * deviation;
  const isUnusual = isFar && Math.abs(now - usual) >= MIN_SHARE * usual && counts(now, usual);
  if (usual >= MIN_USUAL && (now === 0 || isUnusual)) return { by, now, usual };

  const week = logs.slice(0, WEEK).map((log, ago) => ({ log, usual: usualLog(ago, WEEK) }));
  const move = median(week.map(({ log, usual }) => log - usual));
  if (move > Math.log(1 - LASTING_SHARE) || move > -LASTING_DEVIATIONS * deviation) return undefined;
  const mean = (of: (day: (typeof week)[number]) => number) =>
    Math.round(week.reduce((sum, day) => sum + Math.expm1(of(day)), 0) / WEEK);
  const lasting = { by, now: mean(({ log }) => log), usual: mean(({ usual }) => usual), lasting: true };
  return lasting.now < lasting.usual && counts(lasting.now, lasting.usual) ? lasting : undefined;
}

const counts = (now: number, usual: number) => Math.max(now, usual) >= MIN_VIEWS;

const moveOf = ({ now, usual }: Alert) => Math.log1p(now) - Math.log1p(usual);

/**
 * Returns the alerts of a day that are to be told: those of people or AI that are not quiet, and in a quiet week no
 * views at all, once, and what moved further in the other direction than what was told.
 */
export const tellable = (alerts: readonly Alert[], quiet: Quiet | undefined, day: string): Alert[] =>
  alerts.filter((alert) => {
    const known = quiet?.[alert.by];
    if (known === undefined || day >= known.until) return true;
    if (alert.now === 0) return !known.zero;
    const move = moveOf(alert);
    return Math.sign(move) !== Math.sign(known.move) && Math.abs(move) > Math.abs(known.move);
  });

/** Returns what is quiet once these alerts of a day are told. */
export const quietAfter = (quiet: Quiet | undefined, alerts: readonly Alert[], day: string): Quiet => ({
  ...quiet,
  ...Object.fromEntries(
    alerts.map((alert) => {
      const days = alert.lasting ? LASTING_QUIET_DAYS : QUIET_DAYS;
      const until = Temporal.PlainDate.from(day).add({ days }).toString();
      return [alert.by, { until, move: moveOf(alert), zero: alert.now === 0 }];
    }),
  ),
});

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1] ?? 0, sorted[middle] ?? 0];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}
