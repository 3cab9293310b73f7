import { z } from 'zod';
import type { Counts } from './model.ts';

const WEEK = 7;
/** Days that define the usual views, before the day in question: eight of each weekday. */
export const USUAL_DAYS = 8 * WEEK;
/** Days without a similar alert after one about people or AI; more after one about a lasting fall. */
const QUIET_DAYS = 7;
const LASTING_QUIET_DAYS = 28;

/** If actual and usual views are both below this, the difference is chance. */
const MIN_VIEWS = 200;
/** With fewer usual views counting has only begun, and a day without views means nothing. */
const MIN_USUAL = 20;
/** A day is unusual from this many standard deviations and this share of the usual views. */
const DEVIATIONS = 4;
const MIN_SHARE = 0.4;
/** A week needs less of both: low views on most of its days are not chance. */
const LASTING_DEVIATIONS = 1.5;
const LASTING_SHARE = 0.25;
/** Standard deviation divided by the median of the deviations. */
const OF_MEDIAN = 1.4826;

/** Unusual views of a day; for a `lasting` fall, the average day of the last week. */
export interface Alert {
  by: keyof Counts;
  now: number;
  usual: number;
  lasting?: boolean | undefined;
}

const quietSeries = z.object({
  until: z.string(),
  /** The size of the posted change, and whether it was a fall to no views. */
  move: z.number(),
  zero: z.boolean(),
});

/** The day until which similar alerts are suppressed, for people and for AI. */
export const quiet = z.object({ human: quietSeries.optional(), ai: quietSeries.optional() });
export type Quiet = z.infer<typeof quiet>;

/**
 * Returns the unusual views of a day, for people and for AI. `days` are that day and those before it, latest first;
 * before `USUAL_DAYS` are known, none is unusual.
 *
 * Views are compared by their logarithms, so a half and a double are equally far away. The usual value is the median of
 * the same weekday. The standard deviation comes from all days, since eight are too few.
 */
export function alertsOf(days: readonly Counts[]): Alert[] {
  if (days.length <= USUAL_DAYS) return [];
  return (['human', 'ai'] as const).flatMap((by) => alertOf(by, days.slice(0, USUAL_DAYS + 1)) ?? []);
}

function alertOf(by: keyof Counts, days: readonly Counts[]): Alert | undefined {
  const logs = days.map((day) => Math.log1p(day[by]));
  /** The usual value for a day's weekday, from days at least `since` days ago. */
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
 * Returns the alerts to post: those of people or AI that are not quiet. In a quiet week, also no views at all, once,
 * and a larger change in the opposite direction.
 */
export const tellable = (alerts: readonly Alert[], quiet: Quiet | undefined, day: string): Alert[] =>
  alerts.filter((alert) => {
    const known = quiet?.[alert.by];
    if (known === undefined || day >= known.until) return true;
    if (alert.now === 0) return !known.zero;
    const move = moveOf(alert);
    return Math.sign(move) !== Math.sign(known.move) && Math.abs(move) > Math.abs(known.move);
  });

/** Returns the quiet periods after these alerts of a day are posted. */
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
