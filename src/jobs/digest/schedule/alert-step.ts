import { deliveryCheckMs } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { lookupRetryMs } from '../../retry.ts';
import { type Alert, alertsOf, quietAfter, tellable, USUAL_DAYS } from '../alerts.ts';
import { collectFigures, figuresRun, hasTotals, newFiguresRun, rangeKey } from '../figures/record.ts';
import type { DayRange, PageCounts } from '../model.ts';
import { SETTLING_MS } from '../weeks.ts';
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

/** Returns the next state of the check (none: it is over), the wait, or that nothing may be posted. */
async function stepCheck(
  run: ScheduleRun,
  check: Check,
  context: AlertContext,
): Promise<Partial<AlertWatch> | 'notPermitted' | number> {
  if (check.found !== undefined) return awaitPages(run, check, check.found, context);
  const [figures] = await context.runs.loadAll([check.figures], figuresRun);
  if (figures === undefined) return {};
  if (!hasTotals(figures)) {
    const isOver = figures.state === 'ended' || context.now() - check.sinceMs >= GIVE_UP_MS;
    return isOver ? {} : deliveryCheckMs(check, context, MAX_CHECK_MS);
  }
  const days = figures.spans.flatMap(({ counts }) => counts ?? []);
  const alerts = tellable(alertsOf(days), run.alert?.quiet, check.day);
  if (alerts.length === 0) return {};
  const pagesOf = (range: DayRange) =>
    collect(run, { range, spans: [range], pages: true, maxRequests: PAGE_REQUESTS }, context);
  const pages: string[] = [];
  for (const [range] of comparedDays(check.day, alerts[0])) pages.push(await pagesOf(range));
  return { check: { ...check, found: { sinceMs: context.now(), alerts, pages } } };
}

/** Waits a limited time for the pages that changed, and posts the line. */
async function awaitPages(
  run: ScheduleRun,
  check: Check,
  found: Found,
  context: AlertContext,
): Promise<Partial<AlertWatch> | 'notPermitted' | number> {
  const lists = await context.runs.loadAll(found.pages, figuresRun);
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
  const [now = [], before = []] = await Promise.all(
    comparedDays(day, alert).map(async ([range, days]) =>
      (await figures.pages(run, rangeKey(range))).map((page) => ({
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

/** Whether the owner may have digests. After an owner has `left`, digests continue until a person takes them over. */
type OwnerStanding = 'permitted' | 'left' | 'notPermitted' | 'unknown';

/** Looks up the owner's present standing; `unknown` while Slack does not answer. */
export async function checkOwner(
  { owner }: Pick<ScheduleRun, 'owner'>,
  { policy }: Pick<JobContext, 'policy'>,
): Promise<OwnerStanding> {
  const permission = await policy.check(owner.id, 'digest');
  switch (permission.kind) {
    case 'allowed':
      return 'permitted';
    case 'unknown':
      return 'unknown';
    case 'refused':
      return permission.person.active ? 'notPermitted' : 'left';
  }
}

/** Returns the paused schedule: its owner may no longer set up digests, and gets one message that says so. */
export async function pauseNotPermitted(
  run: ScheduleRun,
  { outbox, now }: Pick<JobContext, 'outbox' | 'now'>,
): Promise<ScheduleRun> {
  // Once for each active period, whichever step finds out.
  const key = `${run.id}.not-permitted.${run.sinceMs}`;
  const message = notPermittedMessage(run);
  await outbox.publish(run.teamId, { key, place: { user: run.owner.id }, kind: 'ending', message }, run.rev);
  return pauseItself(run, 'pausedByPermission', now());
}
