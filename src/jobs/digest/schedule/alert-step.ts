import { deliveryCheckMs } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { lookupRetryMs } from '../../retry.ts';
import { type Alert, alertsOf, type Quiet, quietAfter, tellable, USUAL_DAYS } from '../alerts.ts';
import {
  collectFigures,
  type FiguresRun,
  figuresRun,
  hasTotals,
  newFiguresRun,
  rangeKey,
} from '../figures/record.ts';
import { comparePages, type DayRange, type PageCounts } from '../model.ts';
import { daysOf, SETTLING_MS } from '../weeks.ts';
import { alertKey, nextDaily, type ScheduleRun } from './record.ts';
import { alertMessage, type MovedPage } from './view.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK = 7;

/** A day whose figures are missing for this long is not posted. */
const GIVE_UP_MS = DAY_MS;
/** A check waits this long for the pages that changed. */
const PAGES_MS = 3 * HOUR_MS;
/** Requests for the pages of a day; both days together may make twice as many. */
const PAGE_REQUESTS = 5;
const MAX_CHECK_MS = 30_000;

/** Maximum number of named pages, and each page's minimum share of the change. */
const MAX_PAGES = 3;
const MIN_PART = 0.1;

/**
 * Checks the last finished day once a day, and posts a line if it was unusual. Returns the schedule to save, or the
 * milliseconds until there is work.
 */
export async function stepAlert(run: ScheduleRun, context: JobContext): Promise<ScheduleRun | number> {
  const nowMs = context.now();
  if (!run.alerts) return Infinity;
  const { alert } = run;
  const nextAtMs = nextDaily(run.timetable, nowMs);
  if (alert === undefined) return { ...run, alert: { nextAtMs } };
  if (nowMs >= alert.nextAtMs) {
    // Days before the last one that settled are not caught up; after a clock change it may be checked already.
    const day = dayOf(nowMs - SETTLING_MS - DAY_MS);
    const check = day === alert.checked ? {} : { checked: day, sinceMs: nowMs };
    return { ...run, alert: { ...alert, nextAtMs, ...check } };
  }
  const { checked, sinceMs } = alert;
  const untilNextMs = alert.nextAtMs - nowMs;
  if (checked === undefined || sinceMs === undefined) return untilNextMs;
  const result = await checkDay(run, { day: checked, sinceMs }, context);
  if (typeof result === 'number') return Math.min(result, untilNextMs);
  return { ...run, alert: { ...alert, sinceMs: undefined, ...result } };
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

interface Check {
  day: string;
  sinceMs: number;
}

/** Returns the figures of these days. Starts collecting missing ones. */
async function loadFigures(
  { teamId, project }: ScheduleRun,
  { sinceMs }: Check,
  wanted: { range: DayRange; spans: DayRange[]; pages: boolean; maxRequests: number | undefined },
  context: JobContext,
): Promise<FiguresRun | undefined> {
  const figures = newFiguresRun({ teamId, project, urgent: false, readers: false, ...wanted }, sinceMs);
  const [known] = await context.runs.loadAll([figures.id], figuresRun);
  // Of another check, which began earlier.
  const isOld = known?.failed !== undefined && known.sinceMs < sinceMs;
  if (known !== undefined && !isOld) return known;
  await collectFigures(figures, context);
  return undefined;
}

/** Returns what the finished check changes, or the wait. */
async function checkDay(
  run: ScheduleRun,
  check: Check,
  context: JobContext,
): Promise<{ quiet?: Quiet } | number> {
  const { day, sinceMs } = check;
  const waitedMs = context.now() - sinceMs;
  const waitMs = deliveryCheckMs(check, context, MAX_CHECK_MS);
  const spans = Array.from({ length: USUAL_DAYS + 1 }, (_, ago) => dayRange(day, -ago));
  const range = dayRange(day, -USUAL_DAYS, USUAL_DAYS + 1);
  const totals = { range, spans, pages: false, maxRequests: undefined };
  const figures = await loadFigures(run, check, totals, context);
  if (figures === undefined || !hasTotals(figures))
    return figures?.state === 'ended' || waitedMs >= GIVE_UP_MS ? {} : waitMs;
  const days = figures.spans.flatMap(({ counts }) => counts ?? []);
  const alerts = tellable(alertsOf(days), run.alert?.quiet, day);
  const [first] = alerts;
  if (first === undefined) return {};
  const ranges = comparedDays(day, first);
  const lists: (FiguresRun | undefined)[] = [];
  for (const range of ranges) {
    const wanted = { range, spans: [range], pages: true, maxRequests: PAGE_REQUESTS };
    lists.push(await loadFigures(run, check, wanted, context));
  }
  if (lists.some((list) => list?.state !== 'ended') && waitedMs < PAGES_MS) return waitMs;
  const owner = await checkOwner(run, context);
  // The next digest pauses the schedule.
  if (owner === 'notPermitted') return {};
  if (owner === 'unknown') return lookupRetryMs(context);
  const areComplete = lists.every((list) => list?.pages?.state === 'complete');
  const moved = areComplete ? await movedPages(run, ranges, first, context) : [];
  const message = alertMessage(run, day, alerts, moved);
  const place = { channel: run.channel };
  const wanted = { key: alertKey(run, day), place, kind: 'ending' as const, message };
  await context.outbox.publish(run.teamId, wanted, run.rev);
  return { quiet: quietAfter(run.alert?.quiet, alerts, day) };
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
  const sign = Math.sign(now - usual);
  return comparePages(pages, earlier)
    .map((page) => ({ path: page.path, now: page[by], before: page.before[by] }))
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
