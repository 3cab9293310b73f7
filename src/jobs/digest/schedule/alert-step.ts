import { deliveryCheckMs } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { lookupRetryMs } from '../../retry.ts';
import { type Alert, alertsOf, quietAfter, tellable, USUAL_DAYS } from '../alerts.ts';
import { collectFigures, figuresRun, hasTotals, newFiguresRun, rangeKey } from '../figures/record.ts';
import type { DayRange, PageCounts } from '../model.ts';
import { daysOf, SETTLING_MS } from '../weeks.ts';
import { type AlertWatch, alertKey, type ScheduleRun } from './record.ts';
import { nextDaily, pauseItself } from './transitions.ts';
import { alertMessage, type MovedPage, notPermittedMessage } from './view.ts';

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

/**
 * Checks the last finished day once a day, and posts a line if it was unusual. Returns the schedule to save, which is
 * paused if its owner may no longer set up digests; or the milliseconds until there is work.
 */
export async function stepAlert(run: ScheduleRun, context: JobContext): Promise<ScheduleRun | number> {
  const nowMs = context.now();
  if (!run.alerts) return Infinity;
  const { alert } = run;
  const nextAtMs = nextDaily(run.timetable, nowMs);
  if (alert === undefined) return { ...run, alert: { nextAtMs } };
  if (nowMs >= alert.nextAtMs) {
    // If Slack does not answer, the day is checked, and the owner is looked up again before a post.
    if ((await checkOwner(run, context)) === 'notPermitted') return pauseNotPermitted(run, context);
    // Days before the last one that settled are not caught up; after a clock change it may be checked already.
    const day = dayOf(nowMs - SETTLING_MS - DAY_MS);
    if (day === alert.checked) return { ...run, alert: { ...alert, nextAtMs } };
    return {
      ...run,
      alert: { ...alert, nextAtMs, checked: day, check: await beginCheck(run, day, context) },
    };
  }
  const untilNextMs = alert.nextAtMs - nowMs;
  if (alert.check === undefined) return untilNextMs;
  const next = await stepCheck(run, alert.check, context);
  if (typeof next === 'number') return Math.min(next, untilNextMs);
  if (next === 'notPermitted') return pauseNotPermitted(run, context);
  return { ...run, alert: { ...alert, check: undefined, ...next } };
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Returns a range of `days` days that begins `plusDays` after a day. */
function dayRange(day: string, plusDays = 0, days = 1): DayRange {
  const fromMs = Date.parse(`${day}T00:00:00Z`) + plusDays * DAY_MS;
  return { from: dayOf(fromMs), to: dayOf(fromMs + days * DAY_MS) };
}

/** Returns the days of an alert, and the days it is compared with. */
const comparedDays = (day: string, { lasting }: Alert): DayRange[] =>
  lasting
    ? [dayRange(day, 1 - WEEK, WEEK), dayRange(day, 1 - USUAL_DAYS, USUAL_DAYS - WEEK)]
    : [dayRange(day), dayRange(day, -WEEK)];

async function beginCheck(run: ScheduleRun, day: string, context: JobContext): Promise<Check> {
  const spans = Array.from({ length: USUAL_DAYS + 1 }, (_, ago) => dayRange(day, -ago));
  const range = dayRange(day, -USUAL_DAYS, USUAL_DAYS + 1);
  const figures = await collect(run, { range, spans, pages: false }, context);
  return { day, sinceMs: context.now(), figures };
}

/** Starts collecting figures, and returns the id of the run. */
async function collect(
  { teamId, project }: ScheduleRun,
  wanted: { range: DayRange; spans: DayRange[]; pages: boolean; maxRequests?: number },
  context: JobContext,
): Promise<string> {
  const request = { teamId, project, urgent: false, readers: false, maxRequests: undefined, ...wanted };
  const run = newFiguresRun(request, context.now());
  await collectFigures(run, context);
  return run.id;
}

/** Returns the next state of the check (none: it is over), the wait, or that nothing may be posted. */
async function stepCheck(
  run: ScheduleRun,
  check: Check,
  context: JobContext,
): Promise<Partial<AlertWatch> | 'notPermitted' | number> {
  const [figures] = await context.runs.loadAll([check.figures], figuresRun);
  if (figures === undefined) return {};
  if (!hasTotals(figures)) {
    const isOver = figures.state === 'ended' || context.now() - check.sinceMs >= GIVE_UP_MS;
    return isOver ? {} : deliveryCheckMs(check, context, MAX_CHECK_MS);
  }
  const days = figures.spans.flatMap(({ counts }) => counts ?? []);
  const alerts = tellable(alertsOf(days), run.alert?.quiet, check.day);
  const [first] = alerts;
  if (first === undefined) return {};
  const ranges = comparedDays(check.day, first);
  if (check.pages === undefined) {
    const pages: string[] = [];
    for (const range of ranges) {
      const wanted = { range, spans: [range], pages: true, maxRequests: PAGE_REQUESTS };
      pages.push(await collect(run, wanted, context));
    }
    return { check: { ...check, sinceMs: context.now(), pages } };
  }
  // The line waits a limited time for the pages.
  const lists = await context.runs.loadAll(check.pages, figuresRun);
  const isOpen = lists.some(({ state }) => state !== 'ended');
  if (isOpen && context.now() - check.sinceMs < PAGES_MS)
    return deliveryCheckMs(check, context, MAX_CHECK_MS);
  const owner = await checkOwner(run, context);
  if (owner === 'notPermitted') return owner;
  if (owner === 'unknown') return lookupRetryMs(context);
  const areComplete =
    lists.length === ranges.length && lists.every(({ pages }) => pages?.state === 'complete');
  const moved = areComplete ? await movedPages(run, ranges, first, context) : [];
  const message = alertMessage(run, check.day, alerts, moved);
  const place = { channel: run.channel };
  const wanted = { key: alertKey(run, check.day), place, kind: 'ending' as const, message };
  await context.outbox.publish(run.teamId, wanted, run.rev);
  return { quiet: quietAfter(run.alert?.quiet, alerts, check.day) };
}

/** Returns the pages that contribute most to an alert, with their views per day. */
async function movedPages(
  run: ScheduleRun,
  ranges: readonly DayRange[],
  alert: Alert,
  { figures }: JobContext,
): Promise<MovedPage[]> {
  const [now = [], before = []] = await Promise.all(
    ranges.map(async (range) => {
      const days = daysOf(range).length;
      return (await figures.pages(run, rangeKey(range))).map(({ path, human, ai }) => ({
        path,
        human: Math.round(human / days),
        ai: Math.round(ai / days),
      }));
    }),
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

/**
 * Returns whether the owner may have digests; `unknown` while Slack does not answer. After an owner has `left`, digests
 * continue until a person takes them over.
 */
export async function checkOwner({ owner }: ScheduleRun, { policy }: JobContext) {
  const permission = await policy.check(owner.id, 'digest');
  if (permission.kind !== 'refused') return permission.kind;
  return permission.person.active ? 'notPermitted' : 'left';
}

/** Returns the paused schedule: its owner may no longer set up digests, and gets one message that says so. */
export async function pauseNotPermitted(run: ScheduleRun, { outbox, now }: JobContext): Promise<ScheduleRun> {
  // Once for each active period, whichever step finds out.
  const key = `${run.id}.not-permitted.${run.sinceMs}`;
  const message = notPermittedMessage(run);
  await outbox.publish(run.teamId, { key, place: { user: run.owner.id }, kind: 'ending', message }, run.rev);
  return pauseItself(run, 'pausedByPermission', now());
}
