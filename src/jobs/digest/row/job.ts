import { DocsApiError } from '../../../docs-api/errors.ts';
import { wait } from '../../../runtime/later.ts';
import { retention } from '../../../runtime/timing.ts';
import { askEnding, isAskFinal } from '../../agent/thread/instructions.ts';
import { threadRun } from '../../agent/thread/record.ts';
import type { JobContext } from '../../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../../engine/job.ts';
import { pullRequestId, pullRequestRun } from '../../pull-request/record.ts';
import { FINAL_AFTER_MS } from '../../schedule/timetable.ts';
import { UNANSWERED } from '../buttons.ts';
import { pageKey } from '../edition/phrases.ts';
import {
  analyticsOf,
  CONVERSATION_LIMIT,
  DEFAULT_LIMIT_MS,
  PAGE_LIMIT,
  type Query,
  queryOf,
  REFUSALS,
  SEARCH_LIMIT,
  type Source,
  supportKey,
  toViews,
  whole,
} from '../figures/job.ts';
import { figuresRun } from '../figures/record.ts';
import { addCounts, type Counts, type DayRange, MAX_THUMBS } from '../model.ts';
import { scheduleRun } from '../schedule/record.ts';
import { daysOf, finalAtMs, lastCompleteWeek } from '../weeks.ts';
import {
  finishPart,
  MERGED_MS,
  newReading,
  nextReading,
  type Reading,
  type RowNumbers,
  type RowPart,
  type RowRun,
  rowRun,
  UNMERGED_MS,
} from './record.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

/** Reads the numbers of a row, one request per step, and learns when its pull request is merged. */
export const rowJob = defineRunJob<RowRun>({
  name: 'digest-row',
  queue: 'docs-analytics',
  concurrency: 20,
  schema: rowRun,
  step,
  // It is woken at once, but does nothing until tomorrow.
  giveUp: async (run, { now }) => {
    const next = nextReading(run, now());
    return save({ ...run, reading: next && tomorrow(run, next.week, now()), lookAtMs: now() + DAY_MS });
  },
});

/** Returns a week that is read from its beginning, a day later. */
const tomorrow = ({ subject }: RowRun, week: DayRange, nowMs: number): Reading => ({
  ...newReading(subject, week),
  retryMs: nowMs + DAY_MS,
});

const end = (run: RowRun) =>
  save({ ...run, state: 'ended' as const, permanent: false, keptMs: retention.rowMs, reading: undefined });

async function step(run: RowRun, context: JobContext): Promise<StepResult<RowRun>> {
  const nowMs = context.now();
  if (run.state === 'ended') return idle;
  const { mergedAtMs, lookAtMs } = run;
  const nextMs = mergedAtMs === undefined ? lookAtMs : mergedAtMs + MERGED_MS;
  if (nowMs >= nextMs) return mergedAtMs === undefined ? lookForMerge(run, context) : end(run);
  const next = nextReading(run, nowMs);
  if (next !== undefined) return readWeek(run, next.week, next.reading, context);
  const monday = finalAtMs(lastCompleteWeek(nowMs - FINAL_AFTER_MS).range) + WEEK_MS;
  return wait(Math.min(monday + pauseMs(context), nextMs) - nowMs);
}

/** Looks whether the pull request is known, and merged. A row whose request came to nothing ends. */
async function lookForMerge(run: RowRun, context: JobContext): Promise<StepResult<RowRun>> {
  const { now, gitHost, store } = context;
  let { pull } = run;
  if (pull === undefined) {
    const [thread] = await store.runs.loadAll([run.thread], threadRun);
    const asked = thread?.instructions.find(({ id }) => id === run.instruction);
    if (thread === undefined || asked === undefined) return end(run);
    const { prLink: link = '' } = askEnding(thread, asked) ?? {};
    const host = gitHost(run.project);
    const parsed = host?.parse(link);
    if (parsed) pull = { run: pullRequestId(thread.id, parsed.repository, parsed.number), link };
    else if (host && isAskFinal(thread, asked)) return end(run);
  }
  const [found] = await store.runs.loadAll(pull ? [pull.run] : [], pullRequestRun);
  const { state, endedAtMs, updatedAtMs = 0 } = found?.pull ?? {};
  const mergedAtMs = endedAtMs ?? updatedAtMs;
  // The agent may work on a pull request that was merged before. The clock of the host may be behind.
  if (state === 'merged' && mergedAtMs >= run.askedAtMs - 5 * MINUTE_MS)
    return save({ ...run, pull, mergedAtMs, state: 'merged' });
  const isLost = found?.state === 'ended' || now() - run.askedAtMs >= UNMERGED_MS;
  if (isLost) return end(run);
  return save({ ...run, pull, lookAtMs: now() + (pull ? DAY_MS : HOUR_MS) });
}

/** Requests of a week after which a part of it stays unknown; all parts together never take more than the largest. */
const MAX_REQUESTS: Record<RowPart, number> = { views: 4, feedback: 5, searches: 5, questions: 5 };

/** If no slot is free, or figures are collected for a digest, it comes back later, so that it holds up no digest. */
const NO_SLOT_MS = 5 * MINUTE_MS;
const pauseMs = ({ random }: JobContext) => NO_SLOT_MS * (1 + random());

/** After a failure. */
const RETRY_MS = 6 * HOUR_MS;

/** Returns how long other work comes first: that of digests, or none if no digest would show the row. */
async function delayMs({ teamId, project, channel }: RowRun, context: JobContext) {
  const { runs } = context.store;
  const figures = await runs.activeOf(figuresRun, 'digest-figures', teamId);
  if (figures.some(({ state, urgent }) => state !== 'ended' && !urgent)) return pauseMs(context);
  const schedules = await runs.activeOf(scheduleRun, 'digest-schedule', teamId);
  const isShown = schedules.some((one) => one.project === project && one.channel === channel);
  return isShown ? 0 : DAY_MS;
}

async function readWeek(
  run: RowRun,
  week: DayRange,
  reading: Reading,
  context: JobContext,
): Promise<StepResult<RowRun>> {
  const { now, store } = context;
  const { requests, retryMs = 0, left } = reading;
  const [part] = left;
  const goOn = (next: Reading) => save({ ...run, reading: next });
  if (part === undefined) {
    const { from, numbers, failures } = reading;
    // A later try may know more.
    if (failures > 0 && Object.keys(numbers).length === 0) return goOn(tomorrow(run, week, now()));
    return save({ ...run, weeks: [...run.weeks, { from, numbers }], reading: undefined });
  }
  if (now() < retryMs) return wait(Math.min(retryMs - now(), DAY_MS));
  const failures = reading.failures + 1;
  const isMissing = part !== 'views' && (await store.support.isMissing(supportKey(run, part)));
  if (isMissing) return goOn(finishPart({ ...reading, failures }));
  if (requests >= MAX_REQUESTS[part]) return goOn(finishPart(reading));
  const stored = part === 'views' && requests === 0 && (await storedViews(run, week, context));
  if (stored) return goOn(finishPart(reading, stored));
  const analytics = analyticsOf(run.project, context);
  if (analytics === undefined) return wait(HOUR_MS);
  const inMsOthers = await delayMs(run, context);
  if (inMsOthers > 0) return wait(inMsOthers);
  const { limit, source } = analytics;
  const id = `${run.id} ${week.from} ${requests}`;
  const inMs = await store.rateLimiter.takeSlot(limit, { id, priority: 'low' });
  if (inMs > 0) {
    await store.rateLimiter.releaseSlot(limit, id);
    return wait(Math.max(inMs, pauseMs(context)));
  }
  const asked = { ...reading, requests: requests + 1, retryMs: undefined };
  try {
    const { known, next } = await REQUESTS[part](run, reading, queryOf(week, source), source);
    return goOn(next ? { ...asked, ...next } : finishPart(asked, known));
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return wait(0);
    const isLimited = error.kind === 'rate_limited';
    if (isLimited) await store.rateLimiter.hold(limit, error.retryAfterMs ?? DEFAULT_LIMIT_MS);
    // The platform would refuse the same input again; what it lacks, it may have later.
    if (error.kind === 'bad_request') return goOn(finishPart(asked));
    if (REFUSALS.includes(error.kind)) return goOn(finishPart({ ...asked, failures }));
    const failed = isLimited || error.kind === 'key_rejected' ? reading : asked;
    return goOn({ ...failed, failures, retryMs: now() + Math.max(RETRY_MS, error.retryAfterMs ?? 0) });
  }
}

/** Returns the views of a page if a digest has stored all of that week. */
async function storedViews({ subject, ...run }: RowRun, week: DayRange, { store: { figures } }: JobContext) {
  const days = await figures.days(run, daysOf(week));
  if (days.size < daysOf(week).length || !(await figures.reusePages(run, week))) return undefined;
  // A page may come twice.
  const found = new Map<string, Counts>();
  for await (const pages of figures.pages(run, week))
    for (const page of pages.filter(isAbout(subject))) found.set(page.path, page);
  return viewsOf(addCounts([...found.values()]), addCounts([...days.values()]));
}

/** Whether a listed page is the subject: platforms list `/sso` and `/sso/` apart. */
const isAbout =
  ({ name }: RowRun['subject']) =>
  ({ path }: { path: string }) =>
    pageKey(path) === pageKey(name);

const viewsOf = (page: Counts, site: Counts): RowNumbers => ({
  human: { count: page.human, of: site.human },
  ai: { count: page.ai, of: site.ai },
});

/** What a request shows: numbers, none if they cannot be known, or where its list goes on. */
interface PartResult {
  known?: RowNumbers;
  next?: Partial<Reading>;
}

/** A list that begins again at the same place would never end. */
const goOnAt = (next: string | undefined, cursor: string | undefined, more: Partial<Reading>): PartResult =>
  next === undefined || next === cursor ? {} : { next: { ...more, cursor: next } };

const REQUESTS: Record<
  RowPart,
  (run: RowRun, reading: Reading, query: Query, source: Source) => Promise<PartResult>
> = {
  async views({ subject }, { cursor = '0' }, query, source) {
    const page = await source.docs.getPageViews(
      { ...query, limit: PAGE_LIMIT, offset: Number(cursor) },
      source,
    );
    const found = page.views.filter(isAbout(subject)).map(toViews);
    const next = Number(cursor) + page.views.length + (page.leftOut ?? 0);
    if (found.length === 0 && page.hasMore) return goOnAt(`${next}`, cursor, {});
    return { known: viewsOf(addCounts(found), toViews(page.totals)) };
  },

  async feedback({ subject }, _, query, source) {
    const { feedback, hasMore } = await source.docs.getFeedbackByPage(
      { ...query, limit: MAX_THUMBS },
      source,
    );
    const found = feedback.filter(isAbout(subject));
    // The platform lists no more pages.
    if (found.length === 0 && (hasMore || feedback.length >= MAX_THUMBS)) return {};
    // All thumbs: where few pages have any down, the share of those alone would say nothing.
    const sum = (pages: typeof feedback, by: 'thumbsUp' | 'thumbsDown') =>
      pages.reduce((all, page) => all + whole(page[by]), 0);
    const of = sum(feedback, 'thumbsUp') + sum(feedback, 'thumbsDown');
    const [down, up] = [sum(found, 'thumbsDown'), sum(found, 'thumbsUp')];
    return { known: { down: { count: down, of }, up: { count: up, of } } };
  },

  async searches({ subject }, { cursor, percent }, query, source) {
    const page = await source.docs.getSearches(
      { ...query, limit: SEARCH_LIMIT, ...(cursor && { cursor }) },
      source,
    );
    const isPercent = percent || page.searches.some(({ ctr = 0 }) => ctr > 1);
    const found = page.searches.find(({ searchQuery }) => searchQuery === subject.name);
    const { nextCursor, totalSearches } = page;
    if (found === undefined && nextCursor !== undefined)
      return goOnAt(nextCursor, cursor, { percent: isPercent });
    if (totalSearches === undefined) return {};
    const [count, of] = [whole(found?.hits ?? 0), whole(totalSearches)];
    const rate = found ? found.ctr : 0;
    const unclicked = rate === undefined ? undefined : whole(count * (1 - rate / (isPercent ? 100 : 1)));
    const known = { hits: { count, of } };
    return { known: unclicked === undefined ? known : { ...known, unclicked: { count: unclicked, of } } };
  },

  async questions({ subject: { name } }, { cursor, count, of }, query, source) {
    const page = await source.docs.getAssistantConversations(
      { ...query, limit: CONVERSATION_LIMIT, ...(cursor && { cursor }) },
      source,
    );
    const { conversations, hasMore, nextCursor } = page;
    const missed = conversations.filter(
      ({ resolutionStatus, queryCategory }) =>
        resolutionStatus === 'unanswered' && (name === UNANSWERED || queryCategory === name),
    );
    const counted = { count: count + missed.length, of: of + conversations.length };
    if (!hasMore) return { known: { unanswered: counted } };
    return goOnAt(nextCursor, cursor, counted);
  },
};
