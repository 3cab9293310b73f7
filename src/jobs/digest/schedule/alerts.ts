import type { Wait } from '../../../runtime/later.ts';
import { wait } from '../../../runtime/later.ts';
import { idOf } from '../../../store/keys.ts';
import type { JobContext } from '../../engine/context.ts';
import { workCheckMs } from '../../schedule/steps.ts';
import { FINAL_AFTER_MS, nextOccurrence } from '../../schedule/timetable.ts';
import { collectFigures, hasTotals, newFiguresRun } from '../figures/record.ts';
import { type Counts, comparePages, type DayRange, type PageChange } from '../model.ts';
import { dayAt, rangeOf } from '../weeks.ts';
import type { Alert, ScheduleRun } from './record.ts';
import { alertMessage } from './view.ts';

type Quiet = NonNullable<ScheduleRun['alert']>['quiet'];

const WEEK = 7;
/** Days that define the usual views, before the day in question: eight of each weekday. */
export const USUAL_DAYS = 8 * WEEK;
/** Days without a similar alert after one about people or AI; more after one about a fall of a week. */
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

/** A check waits this long for the pages that changed. */
const PAGES_MS = 3 * 3_600_000;
/** Requests for the pages of a day; both days together may make twice as many. */
const PAGE_REQUESTS = 5;

/** Maximum number of named pages, and each page's minimum share of the change. */
const MAX_PAGES = 3;
const MIN_PART = 0.1;

/**
 * Checks the last finished day at the timetable's hour, until the next day is over, and posts a line if it was unusual.
 * Returns the schedule to save, or when there is work.
 */
export async function stepAlert(run: ScheduleRun, context: JobContext): Promise<ScheduleRun | Wait> {
  if (!run.alerts || run.timetable.monthly) return wait(Infinity);
  const nowMs = context.now();
  const { time, zone } = run.timetable;
  const nextDaily = (afterMs: number) => nextOccurrence({ time, zone }, afterMs);
  let { atMs, quiet } = run.alert ?? { atMs: 0, quiet: {} };
  // Only days that are over after the start are checked.
  if (atMs < run.sinceMs) return { ...run, alert: { atMs: nextDaily(Math.max(nowMs, run.sinceMs)), quiet } };
  let nextMs = nextDaily(atMs);
  // Of several missed days, only the last is checked.
  while (nextMs <= nowMs) [atMs, nextMs] = [nextMs, nextDaily(nextMs)];
  if (nowMs < atMs) return wait(atMs - nowMs);
  const day = dayAt(atMs - FINAL_AFTER_MS).subtract({ days: 1 });
  const checked = await checkDay(run, day.toString(), atMs, quiet, context);
  if (!checked) return wait(Math.min(workCheckMs(atMs, context), nextMs - nowMs));
  return { ...run, alert: { atMs: nextMs, quiet: checked } };
}

const rangeFrom = (day: string, plusDays = 0, days = 1): DayRange =>
  rangeOf(Temporal.PlainDate.from(day).add({ days: plusDays }), days);

/** Returns the quiet periods after the finished check of a day; undefined while figures are missing. */
async function checkDay(run: ScheduleRun, day: string, sinceMs: number, quiet: Quiet, context: JobContext) {
  const { teamId, project, channel } = run;
  const load = (range: DayRange, spans: DayRange[], maxRequests?: number) => {
    const wanted = { teamId, project, range, spans, maxRequests, urgent: false, readers: false };
    return collectFigures(newFiguresRun({ ...wanted, pages: maxRequests !== undefined }, sinceMs), context);
  };
  const spans = Array.from({ length: USUAL_DAYS + 1 }, (_, ago) => rangeFrom(day, -ago));
  const totals = await load(rangeFrom(day, -USUAL_DAYS, USUAL_DAYS + 1), spans);
  if (!hasTotals(totals)) return totals.state === 'ended' ? quiet : undefined;
  const alerts = alertsToPost(alertsOf(totals.spans.flatMap(({ counts }) => counts ?? [])), quiet, day);
  const [first] = alerts;
  if (first === undefined) return quiet;
  const [days, daysBefore] = first.ofWeek ? [WEEK, USUAL_DAYS - WEEK] : [1, 1];
  const range = rangeFrom(day, 1 - days, days);
  const before = rangeFrom(day, first.ofWeek ? 1 - USUAL_DAYS : -WEEK, daysBefore);
  const lists = await Promise.all([range, before].map((one) => load(one, [one], PAGE_REQUESTS)));
  if (lists.some(({ state }) => state !== 'ended') && context.now() - sinceMs < PAGES_MS) return undefined;
  const pagesOf = (one: DayRange) => context.store.figures.pages(run, one);
  const areComplete = lists.every(({ pages }) => pages?.isComplete);
  const pages = areComplete ? await comparePages(pagesOf(range), pagesOf(before)) : [];
  const message = alertMessage(run, day, alerts, mostMoved(pages, first, days, daysBefore));
  const key = `${idOf('digest-alert', teamId, channel, project)}.alert.${day}`;
  await context.outbox.publish(teamId, { key, place: { channel }, kind: 'ending', message }, run.rev);
  return quietAfter(quiet, alerts, day);
}

/** Returns the pages that moved in the alert's direction, each by a sufficient share, largest first. */
export function mostMoved(
  pages: readonly PageChange[],
  { by, now, usual }: Alert,
  days: number,
  daysBefore: number,
) {
  const sign = Math.sign(now - usual);
  const movedBy = (page: { now: number; before: number }) => sign * (page.now - page.before);
  return pages
    .map((page) => ({
      path: page.path,
      now: Math.round(page[by] / days),
      before: Math.round(page.before[by] / daysBefore),
    }))
    .filter((page) => movedBy(page) > 0 && movedBy(page) >= MIN_PART * Math.abs(now - usual))
    .toSorted((one, other) => movedBy(other) - movedBy(one))
    .slice(0, MAX_PAGES);
}

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
  const isUnusual = isFar && Math.abs(now - usual) >= MIN_SHARE * usual && isLargeEnough(now, usual);
  if (usual >= MIN_USUAL && (now === 0 || isUnusual)) return { by, now, usual };

  const week = logs.slice(0, WEEK).map((log, ago) => ({ log, usual: usualLog(ago, WEEK) }));
  const move = median(week.map(({ log, usual }) => log - usual));
  if (move > Math.log(1 - LASTING_SHARE) || move > -LASTING_DEVIATIONS * deviation) return undefined;
  const mean = (of: (day: (typeof week)[number]) => number) =>
    Math.round(week.reduce((sum, day) => sum + Math.expm1(of(day)), 0) / WEEK);
  const fall = { by, now: mean(({ log }) => log), usual: mean(({ usual }) => usual), ofWeek: true };
  return fall.now < fall.usual && isLargeEnough(fall.now, fall.usual) ? fall : undefined;
}

const isLargeEnough = (now: number, usual: number) => Math.max(now, usual) >= MIN_VIEWS;

const moveOf = ({ now, usual }: Alert) => Math.log1p(now) - Math.log1p(usual);

/**
 * Returns the alerts to post: those of people or AI that are not quiet. In a quiet week, also no views at all, once,
 * and a larger change in the opposite direction.
 */
export const alertsToPost = (alerts: readonly Alert[], quiet: Quiet, day: string): Alert[] =>
  alerts.filter((alert) => {
    const known = quiet[alert.by];
    if (known === undefined || day >= known.until) return true;
    if (alert.now === 0) return !known.zero;
    const move = moveOf(alert);
    return Math.sign(move) !== Math.sign(known.move) && Math.abs(move) > Math.abs(known.move);
  });

/** Returns the quiet periods after these alerts of a day are posted. */
export const quietAfter = (quiet: Quiet, alerts: readonly Alert[], day: string): Quiet => ({
  ...quiet,
  ...Object.fromEntries(
    alerts.map((alert) => {
      const until = rangeFrom(day, alert.ofWeek ? LASTING_QUIET_DAYS : QUIET_DAYS).from;
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
