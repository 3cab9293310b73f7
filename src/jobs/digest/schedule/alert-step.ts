import { deliveryCheckMs } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { lookupRetryMs } from '../../retry.ts';
import { type Alert, alertsOf, QUIET_DAYS, quietAfter, tellable, USUAL_DAYS } from '../alerts.ts';
import { collectFigures } from '../figures/collect.ts';
import { type FiguresRun, figuresRun, hasTotals, newFiguresRun, rangeKey } from '../figures/record.ts';
import type { DayRange, PageCounts } from '../model.ts';
import { SETTLING_MS } from '../weeks.ts';
import { alertMessage, type MovedPage } from './alert-view.ts';
import { checkOwner, pauseNotPermitted } from './owner.ts';
import { type AlertWatch, alertKey, type ScheduleRun } from './record.ts';
import { nextDaily } from './transitions.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK = 7;

/** A day whose figures are missing for this long is not posted. */
const GIVE_UP_MS = DAY_MS;
/** A line waits this long for the pages that changed. */
const PAGES_MS = HOUR_MS;
/** Requests for the pages of a day; both days together may make twice as many. */
const PAGE_REQUESTS = 5;
const MAX_CHECK_MS = 30_000;

/** Maximum number of named pages, and each page's minimum share of the change. */
const MAX_PAGES = 3;
const MIN_PART = 0.1;

type Check = NonNullable<AlertWatch['check']>;
type Found = NonNullable<Check['found']>;

type AlertContext = Pick<
  JobContext,
  'runs' | 'figures' | 'outbox' | 'policy' | 'wake' | 'now' | 'random' | 'timing'
>;

/**
 * Checks the last finished day once a day, and posts a line if it was unusual. Returns the schedule to save, which is
 * paused if its owner may no longer set up digests; or the milliseconds until there is work.
 */
export async function stepAlert(run: ScheduleRun, context: AlertContext): Promise<ScheduleRun | number> {
  const nowMs = context.now();
  if (!run.alerts) return Infinity;
  const { alert } = run;
  const nextAtMs = nextDaily(run.timetable, nowMs);
  if (alert === undefined) return { ...run, alert: { nextAtMs } };
  if (nowMs >= alert.nextAtMs) {
    // If Slack does not answer, the day is checked, and the owner is looked up again before a post.
    if ((await checkOwner(run, context)) === 'notPermitted') return pauseNotPermitted(run, context);
    return { ...run, alert: { ...alert, nextAtMs, ...settledDays(run, alert, nowMs) } };
  }
  const untilNextMs = alert.nextAtMs - nowMs;
  if (alert.check === undefined) {
    const [day, ...days] = alert.days ?? [];
    if (day === undefined) return untilNextMs;
    return { ...run, alert: { ...alert, days, check: await beginCheck(run, day, context) } };
  }
  const next = await stepCheck(run, alert.check, context);
  if (typeof next === 'number') return Math.min(next, untilNextMs);
  if (next === 'notPermitted') return pauseNotPermitted(run, context);
  return { ...run, alert: { ...alert, check: undefined, ...next } };
}

/** Returns the last due check; earlier ones are not caught up. */
function lastDaily({ timetable }: ScheduleRun, dueAtMs: number, nowMs: number): number {
  let lastMs = dueAtMs;
  for (let atMs = dueAtMs; atMs <= nowMs; atMs = nextDaily(timetable, atMs)) lastMs = atMs;
  return lastMs;
}

/** Returns the days that settled since the last check: a clock change may make it two, or none. */
function settledDays(
  run: ScheduleRun,
  { nextAtMs, checked }: AlertWatch,
  nowMs: number,
): Partial<AlertWatch> {
  const dueAtMs = lastDaily(run, nextAtMs, nowMs);
  const last = dayOf(dueAtMs - SETTLING_MS - DAY_MS);
  if (checked === last) return {};
  const dayBefore = dayRange(last, -1).from;
  // A check missed by a day is not caught up.
  const isTwo = dueAtMs === nextAtMs && checked !== undefined && checked < dayBefore;
  return { checked: last, days: isTwo ? [dayBefore, last] : [last], check: undefined };
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Returns a range of `days` days that begins `plusDays` after a day. */
function dayRange(day: string, plusDays = 0, days = 1): DayRange {
  const fromMs = Date.parse(`${day}T00:00:00Z`) + plusDays * DAY_MS;
  return { from: dayOf(fromMs), to: dayOf(fromMs + days * DAY_MS) };
}

/** Returns the days of an alert and the days it is compared with, each with its number of days. */
const comparedDays = (day: string, alert: Alert | undefined): [range: DayRange, days: number][] =>
  alert?.lasting
    ? [
        [dayRange(day, 1 - WEEK, WEEK), WEEK],
        [dayRange(day, 1 - USUAL_DAYS, USUAL_DAYS - WEEK), USUAL_DAYS - WEEK],
      ]
    : [
        [dayRange(day), 1],
        [dayRange(day, -WEEK), 1],
      ];

async function beginCheck(run: ScheduleRun, day: string, context: AlertContext): Promise<Check> {
  const spans = Array.from({ length: USUAL_DAYS + 1 }, (_, ago) => dayRange(day, -ago));
  const { from } = dayRange(day, -USUAL_DAYS);
  const { to } = dayRange(day);
  const figures = await collect(run, { range: { from, to }, spans, pages: false }, context);
  return { day, sinceMs: context.now(), figures };
}

/** Starts collecting figures, and returns the id of the run. */
async function collect(
  { teamId, project }: ScheduleRun,
  wanted: { range: DayRange; spans: DayRange[]; pages: boolean; maxRequests?: number },
  context: AlertContext,
): Promise<string> {
  const { maxRequests, ...what } = wanted;
  const request = { teamId, project, urgent: false, readers: false, maxRequests, ...what };
  const run = newFiguresRun(request, context.now());
  await collectFigures(run, context);
  return run.id;
}

async function load(ids: string[], { runs }: AlertContext): Promise<FiguresRun[]> {
  return runs.loadAll(ids, figuresRun);
}

/** Returns the next state of the check (none: it is over), the wait, or that nothing may be posted. */
async function stepCheck(
  run: ScheduleRun,
  check: Check,
  context: AlertContext,
): Promise<Partial<AlertWatch> | 'notPermitted' | number> {
  if (check.found !== undefined) return awaitPages(run, check, check.found, context);
  const [figures] = await load([check.figures], context);
  if (figures === undefined) return {};
  if (!hasTotals(figures)) {
    const isOver = figures.state === 'ended' || context.now() - check.sinceMs >= GIVE_UP_MS;
    return isOver ? {} : deliveryCheckMs(check, context, MAX_CHECK_MS);
  }
  const days = figures.spans.flatMap(({ counts }) => counts ?? []);
  const alerts = await withoutQuiet(run, check.day, alertsOf(days), context);
  if (alerts.length === 0) return {};
  const pagesOf = (range: DayRange) =>
    collect(run, { range, spans: [range], pages: true, maxRequests: PAGE_REQUESTS }, context);
  const pages: string[] = [];
  for (const [range] of comparedDays(check.day, alerts[0])) pages.push(await pagesOf(range));
  return { check: { ...check, found: { sinceMs: context.now(), alerts, pages } } };
}

/** Alerts of an earlier schedule are unknown here: then only a day without any views is posted. */
async function withoutQuiet(
  run: ScheduleRun,
  day: string,
  alerts: readonly Alert[],
  context: AlertContext,
): Promise<Alert[]> {
  const quiet = run.alert?.quiet;
  if (quiet !== undefined || alerts.length === 0 || !(await wasAlert(run, day, context)))
    return tellable(alerts, quiet, day);
  return alerts.filter(({ now }) => now === 0);
}

/** Whether a line was posted in the days before, also by a schedule that was since removed or turned alerts off. */
async function wasAlert(run: ScheduleRun, day: string, { outbox }: AlertContext): Promise<boolean> {
  const before = Array.from({ length: QUIET_DAYS - 1 }, (_, index) => dayRange(day, -1 - index).from);
  const lines = await Promise.all(before.map((one) => outbox.deliveryState(alertKey(run, one))));
  return lines.some(({ kind }) => kind === 'shown');
}

/** Waits a limited time for the pages that changed, and posts the line. */
async function awaitPages(
  run: ScheduleRun,
  check: Check,
  found: Found,
  context: AlertContext,
): Promise<Partial<AlertWatch> | 'notPermitted' | number> {
  const lists = await load(found.pages, context);
  const isOpen = lists.some(({ state }) => state !== 'ended');
  if (isOpen && context.now() - found.sinceMs < PAGES_MS)
    return deliveryCheckMs(found, context, MAX_CHECK_MS);
  const owner = await checkOwner(run, context);
  if (owner === 'notPermitted') return owner;
  if (owner === 'unknown') return lookupRetryMs(context);
  const areComplete =
    lists.length === found.pages.length && lists.every(({ pages }) => pages?.state === 'complete');
  const moved = areComplete ? await movedPages(run, check.day, found.alerts, context) : [];
  const message = alertMessage(run, check.day, found.alerts, moved);
  const key = alertKey(run, check.day);
  const place = { channel: run.channel };
  await context.outbox.publish(run.teamId, { key, place, kind: 'ending', message }, run.rev);
  return { quiet: quietAfter(run.alert?.quiet, found.alerts, check.day) };
}

/** Returns the pages that contribute most to the first alert, with their views per day. */
async function movedPages(
  run: ScheduleRun,
  day: string,
  [alert]: readonly Alert[],
  { figures }: AlertContext,
): Promise<MovedPage[]> {
  if (alert === undefined) return [];
  const pagesOf = { teamId: run.teamId, project: run.project, asked: false };
  const [now = [], before = []] = await Promise.all(
    comparedDays(day, alert).map(async ([range, days]) =>
      (await figures.pages(pagesOf, rangeKey(range))).map((page) => ({
        ...page,
        human: Math.round(page.human / days),
        ai: Math.round(page.ai / days),
      })),
    ),
  );
  return mostMoved(now, before, alert);
}

/** Returns the pages that moved in the alert's direction, each by a sufficient share, largest first. */
export function mostMoved(
  pages: readonly PageCounts[],
  earlier: readonly PageCounts[],
  { by, now, usual }: Alert,
): MovedPage[] {
  const before = new Map(earlier.map((page) => [page.path, page[by]]));
  const after = new Map(pages.map((page) => [page.path, page[by]]));
  const sign = Math.sign(now - usual);
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((path) => ({ path, now: after.get(path) ?? 0, before: before.get(path) ?? 0 }))
    .map((page) => ({ page, moved: sign * (page.now - page.before) }))
    .filter(({ moved }) => moved > 0 && moved >= MIN_PART * Math.abs(now - usual))
    .toSorted((one, other) => other.moved - one.moved)
    .slice(0, MAX_PAGES)
    .map(({ page }) => page);
}
