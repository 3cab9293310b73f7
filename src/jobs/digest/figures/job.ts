import { z } from 'zod';
import { type DocsApi, keyIdOf } from '../../../docs-api/client.ts';
import { DocsApiError } from '../../../docs-api/errors.ts';
import { holdsEmailAddress } from '../../../docs-api/text.ts';
import type { Project } from '../../../projects.ts';
import { wait } from '../../../runtime/later.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { FiguresStore } from '../../../store/figures.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import { runBase } from '../../../store/runs.ts';
import type { JobContext } from '../../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../../engine/job.ts';
import { nextFailure } from '../../engine/polling.ts';
import { type Sent, sent } from '../../engine/send-event.ts';
import {
  addCounts,
  type Counts,
  type DayRange,
  isRefusal,
  MAX_LISTED,
  MAX_THUMBS,
  MAX_TOPICS,
  type ReaderFigures,
} from '../model.ts';
import { daysOf, finalAtMs } from '../weeks.ts';
import { type FiguresRun, figuresRun, isRangeFinal, READER_PARTS } from './record.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type Readers = NonNullable<FiguresRun['readers']>;
type ReaderPart = Readers['done'][number];

/** Requests per hour reserved for people, which digests in the background leave free. */
const KEPT_FOR_PEOPLE = 20;

/**
 * Returns the limit of analytics requests; collecting in the background leaves a share to people. The platform counts
 * requests per organization; if the settings name none, the API key stands for it, by its id.
 */
export const analyticsLimit = (project: Project, perHour: number): RateLimit => ({
  name: `analytics:${project.organization === undefined ? keyIdOf(project) : `organization:${project.organization}`}`,
  count: perHour,
  windowMs: HOUR_MS,
  perId: true,
  interactiveShare: Math.min(KEPT_FOR_PEOPLE, Math.floor(perHour / 5)) / perHour,
});

/** Returns a project's analytics and their limit; undefined if the settings no longer have the project. */
export function analyticsOf(project: string, { platform, settings, stopping: signal }: JobContext) {
  const docs = platform.docs(project);
  const found = settings.projects.find(({ name }) => name === project);
  if (docs === undefined || found?.projectId === undefined) return undefined;
  const source: Source = { docs, projectId: found.projectId, signal };
  return { limit: analyticsLimit(found, settings.limits.analyticsPerHour), source };
}

/** Collects figures within the hourly limit, one request per step, and resumes at the same place. */
export const figuresJob = defineRunJob({
  name: 'digest-figures',
  queue: 'docs-analytics',
  concurrency: 20,
  schema: figuresRun,
  sends,
  step: async (run, context) => (run.state === 'ended' ? idle : step(run, context)),
  giveUp: async (run) => end(run),
});

const waitingDigest = runBase.extend({ figures: z.array(z.string()).optional() });

/** The digests that wait for it look at it when it has ended. */
async function sends({ id, state, sinceMs, teamId }: FiguresRun, { store }: JobContext): Promise<Sent[]> {
  if (state !== 'ended') return [];
  const digests = await store.runs.activeOf(waitingDigest, 'digest', teamId);
  const waiting = digests.filter(({ figures }) => figures?.includes(id));
  return waiting.map((digest) => sent({ job: 'digest' }, digest.id, `${id} ${sinceMs}`));
}

const end = (run: FiguresRun) => save({ ...run, state: 'ended' as const });

/** After this many consecutive failures, an optional part is left out. */
const MAX_PART_FAILURES = 3;

/** An optional part that the platform lacks or refuses is left out for a day. */
export const REFUSALS: DocsApiError['kind'][] = ['not_found', 'unsupported', 'forbidden', 'bad_request'];

/** The pause after a 429 without `Retry-After`; the limit is hourly. */
export const DEFAULT_LIMIT_MS = MINUTE_MS;

async function step(stored: FiguresRun, context: JobContext): Promise<StepResult<FiguresRun>> {
  const { now } = context;
  const { rateLimiter, figures, support } = context.store;
  const { pollFailure: before } = stored;
  // Our own limit may give a slot sooner.
  const waitMs = before && !isOwnLimit(before) ? before.nextMs - now() : 0;
  if (waitMs > 0) return wait(waitMs);
  const run = stored.requests === 0 ? await takeStored(stored, context) : stored;
  const request = nextRequest(run);
  if (request === undefined) return end(run);
  const analytics = analyticsOf(run.project, context);
  if (analytics === undefined) return retryLater(run, 'project', context);
  const { limit, source } = analytics;
  // A request keeps its slot until it is sent. A retry takes a new one, since both requests were sent.
  const id = `${run.id} ${run.sinceMs} ${run.requests}`;
  const inMs = await rateLimiter.takeSlot(limit, { id, priority: run.urgent ? 'interactive' : 'low' });
  if (inMs > 0) return waitForLimit(run, inMs, context);
  const sent = { ...run, requests: run.requests + 1 };
  const part = READER_PARTS.find((one) => one === request);
  try {
    if (part !== undefined)
      sent.readers = run.readers && (await requestReaders(run.readers, part, run.range, source));
    else if (request === 'pages') sent.pages = await requestPages(run, source, figures);
    else sent.spans = await requestTotals(run, source, figures, now());
    return save({ ...sent, pollFailure: undefined });
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return wait(0);
    if (error.kind === 'rate_limited') await rateLimiter.hold(limit, error.retryAfterMs ?? DEFAULT_LIMIT_MS);
    if (part === undefined) return retryLater(sent, error, context);
    const isRefused = REFUSALS.includes(error.kind);
    // The platform may refuse this input, or has given a part of it.
    const lacks = isRefused && error.kind !== 'bad_request' && run.readers?.open === undefined;
    if (lacks) await support.markMissing(supportKey(run, part));
    const { kind, inARow } = nextFailure(run.pollFailure, error, context);
    const isLeftOut = isRefused || (kind === 'down' && inARow >= MAX_PART_FAILURES);
    return isLeftOut ? save(leaveOut(sent, part)) : retryLater(sent, error, context);
  }
}

/** Records a noticeable wait for a slot, so that messages can show it. A refusal by the platform remains its cause. */
function waitForLimit(run: FiguresRun, inMs: number, context: JobContext): StepResult<FiguresRun> {
  const { pollFailure: before, sinceMs, urgent } = run;
  const nextMs = context.now() + inMs;
  const isKnown = Math.abs((before?.nextMs ?? 0) - nextMs) < MINUTE_MS;
  if (isKnown || inMs < 10_000) return wait(inMs);
  const own = { kind: 'limit' as const, inARow: 1, sinceMs };
  const failure = before?.kind === 'limit' ? before : own;
  return delay(run, { ...failure, nextMs }, sinceMs + (urgent ? URGENT_LIMIT_MS : GIVE_UP_MS), context);
}

/** The longest wait before the next request, even if the platform asks for more: its limit is hourly. */
const LONGEST_WAIT_MS = HOUR_MS;
/** The longest pause between failures in the background: each of them takes a request of the hour. */
const LONGEST_BACKOFF_MS = HOUR_MS / 2;

async function retryLater(run: FiguresRun, error: DocsApiError | 'project', context: JobContext) {
  const { now, timing, random } = context;
  const { pollFailure: before, urgent } = run;
  const failure = nextFailure(before, error, context);
  const { kind, inARow } = failure;
  if (error !== 'project' && (kind === 'key' || error.kind === 'forbidden'))
    await context.platform.alertAdmins(run.teamId, run.project, error);
  // At the first refusal, the platform's own time counts.
  const isGrowing = !urgent && (kind !== 'limit' || inARow > 1);
  const retryMinMs = kind === 'limit' ? DEFAULT_LIMIT_MS : timing.retryMinMs;
  const backoff = { retryMinMs, retryMaxMs: LONGEST_BACKOFF_MS };
  const pauseMs = isGrowing ? backoffMs(backoff, inARow, random()) : 0;
  const nextMs = Math.min(Math.max(failure.nextMs, now() + pauseMs), now() + LONGEST_WAIT_MS);
  const platform =
    error === 'project' ? {} : { status: error.status, platformMessage: error.platformMessage };
  // Our own limit is no failure.
  const { sinceMs } = before && !isOwnLimit(before) ? before : { sinceMs: now() };
  const giveUpAtMs = urgent
    ? sinceMs + (isRefusal(failure) ? 0 : URGENT_GIVE_UP_MS)
    : run.sinceMs + GIVE_UP_MS;
  return delay(run, { ...failure, ...platform, nextMs, sinceMs }, giveUpAtMs, context);
}

/** Collecting gives up this long after it began: a digest is caught up within two days. */
const GIVE_UP_MS = 48 * HOUR_MS;
/** A person's request waits this long for our own limit, and this long while the platform refuses or fails. */
const URGENT_LIMIT_MS = 2 * HOUR_MS;
const URGENT_GIVE_UP_MS = 5 * MINUTE_MS;

type Failure = NonNullable<FiguresRun['pollFailure']>;

const isOwnLimit = ({ kind, status }: Pick<Failure, 'kind' | 'status'>) =>
  kind === 'limit' && status === undefined;

/** Waits until the failure's next try, or gives up. */
function delay(run: FiguresRun, pollFailure: Failure, giveUpAtMs: number, { now }: JobContext) {
  const next = { ...run, pollFailure };
  if (now() >= giveUpAtMs) return end(next);
  return save(next, { inMs: Math.max(1, pollFailure.nextMs - now()) });
}

/** Rows per request, the platform's maximum. */
export const PAGE_LIMIT = 250;
export const SEARCH_LIMIT = 100;
/** Fewer than the platform's maximum, because the answers in them are long. */
export const CONVERSATION_LIMIT = 250;

/** Requests per part of the readers' figures; an incomplete list of questions would mislead. */
const MAX_PART_REQUESTS = 20;

/** Maximum number of counted categories; a hostile platform could send any number. */
const MAX_CATEGORIES = 100;

/** Searches that are kept for the choice of those that a digest lists. */
const MAX_SEARCHES = 20;

/** A search with fewer hits does not count. */
const MIN_HITS = 10;

/** If requests are few, this many are reserved for the list of pages, which matters more than the readers' figures. */
const KEPT_FOR_PAGES = 4;

export interface Source {
  docs: DocsApi;
  projectId: string;
  signal: AbortSignal;
}

/**
 * Returns the next request of a run, if it may make one. Totals come first, so that a digest is on time; then parts of
 * few requests; the list of pages last.
 */
function nextRequest(run: FiguresRun): 'totals' | 'pages' | ReaderPart | undefined {
  const { spans, readers, pages, maxRequests = Infinity, requests } = run;
  if (spans.some(({ counts }) => counts === undefined)) return 'totals';
  const left = maxRequests - requests;
  if (left <= 0) return undefined;
  const next = pages?.isComplete === false ? 'pages' : undefined;
  const part = readers && READER_PARTS.find((one) => !readers.done.includes(one));
  return part !== undefined && (left > KEPT_FOR_PAGES || next === undefined) ? part : next;
}

/** Returns the run with the stored figures, and without the parts that the platform is known to lack. */
async function takeStored(run: FiguresRun, { store: { figures, support } }: JobContext): Promise<FiguresRun> {
  const days = await figures.days(run, daysOf(run.range));
  const spans = run.spans.map((span) => {
    const stored = daysOf(span).flatMap((day) => days.get(day) ?? []);
    return stored.length < daysOf(span).length ? span : { ...span, counts: addCounts(stored) };
  });
  let taken: FiguresRun = { ...run, spans };
  if (run.pages && isRangeFinal(run) && (await figures.reusePages(run, run.range)))
    taken = { ...taken, pages: { offset: 0, isComplete: true } };
  for (const part of run.readers ? READER_PARTS : [])
    if (await support.isMissing(supportKey(run, part))) taken = leaveOut(taken, part);
  return taken;
}

/** Views as whole numbers from 0: a platform may send anything. */
export const toViews = ({ human, ai }: Counts): Counts => ({ human: whole(human), ai: whole(ai) });

export const whole = (value: number) => Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER);

export const queryOf = ({ from, to }: DayRange, { projectId }: Source): Query => ({
  projectId,
  dateFrom: from,
  dateTo: to,
});

/** Returns the spans with one more total, which is stored for other runs if it is final. */
async function requestTotals(run: FiguresRun, source: Source, figures: FiguresStore, nowMs: number) {
  const index = run.spans.findIndex(({ counts }) => counts === undefined);
  const span = run.spans[index] ?? run.range;
  const query = { ...queryOf(span, source), limit: 1 };
  const counts = toViews((await source.docs.getPageViews(query, source)).totals);
  if (daysOf(span).length === 1 && finalAtMs(span) <= nowMs)
    await figures.addDay(run, span.from, counts, nowMs);
  return run.spans.with(index, { ...span, counts });
}

/** Stores the next pages of the list, and returns its state. */
async function requestPages(run: FiguresRun, source: Source, figures: FiguresStore) {
  const { range, pages: { offset } = { offset: 0 } } = run;
  const query = { ...queryOf(range, source), limit: PAGE_LIMIT, offset };
  const page = await source.docs.getPageViews(query, source);
  const pages = page.views.map((views) => ({ path: views.path, ...toViews(views) }));
  const rows = pages.length + (page.leftOut ?? 0);
  // A platform that says "more" without any row would be asked for ever.
  const isComplete = !page.hasMore || rows === 0;
  await figures.addPages(run, range, offset, pages, isComplete && isRangeFinal(run));
  // The offset follows the rows received, not those requested: a platform may return fewer.
  return { offset: offset + rows, isComplete };
}

/** The name of a part that the platform does not have, or refuses. */
export const supportKey = ({ teamId, project }: Pick<FiguresRun, 'teamId' | 'project'>, part: ReaderPart) =>
  `analytics:${teamId}:${project}:${part}`;

const leaveOut = (run: FiguresRun, part: ReaderPart): FiguresRun => ({
  ...run,
  pollFailure: undefined,
  readers: run.readers && finish(run.readers, part),
});

/** Returns the readers' figures without further requests for `part`. */
const finish = ({ done, figures, clicked }: Readers, part: ReaderPart): Readers => ({
  figures,
  ...(clicked && { clicked }),
  done: [...done, part],
});

export type Query = { projectId: string; dateFrom: string; dateTo: string };

const NONE = { asked: 0, unanswered: 0 };
type Counted = Omit<NonNullable<Readers['open']>, 'cursor' | 'requests'>;
const NO_QUESTIONS: Counted = { ...NONE, topics: {} };

/** The result of a request for a part. It continues at `cursor`, with the questions `counted` so far. */
interface PartResult {
  figures?: ReaderFigures;
  cursor?: string | undefined;
  counted?: Counted;
  clicked?: Readers['clicked'];
}

/** Returns the readers' figures after one more request for `part`. */
export async function requestReaders(readers: Readers, part: ReaderPart, range: DayRange, source: Source) {
  const { open } = readers;
  const query = { ...queryOf(range, source), ...(open && { cursor: open.cursor }) };
  const {
    figures,
    cursor,
    counted = NO_QUESTIONS,
    ...rest
  } = await requestPart[part](query, source, readers);
  const cut = { ...readers.figures.cut, ...figures?.cut };
  const next = { ...readers, ...rest, figures: { ...readers.figures, ...figures, cut } };
  const requests = (open?.requests ?? 0) + 1;
  const goesOn = cursor !== undefined && cursor !== open?.cursor && requests < MAX_PART_REQUESTS;
  return goesOn ? { ...next, open: { ...counted, cursor, requests } } : finish(next, part);
}

/** Kept searches with a clicked page, and the length of their terms and paths. */
const MAX_CLICKED = 100;
const MAX_TERM = 200;
const MAX_CLICKED_PATH = 300;

type Searches = Awaited<ReturnType<DocsApi['getSearches']>>['searches'];

/** Returns the most frequent searches with a clicked page, each term once. */
function addClicked(known: NonNullable<Readers['clicked']>, searches: Searches): Readers['clicked'] {
  const found = searches.flatMap(({ searchQuery, hits, ctr, topClickedPage: page = '' }) =>
    page.startsWith('/') && page.length <= MAX_CLICKED_PATH && !holdsEmailAddress(page)
      ? [{ query: searchQuery.slice(0, MAX_TERM).toWellFormed(), hits: whole(hits), page, rate: ctr }]
      : [],
  );
  const byTerm = new Map([...known, ...found].map((one) => [one.query, one]));
  return [...byTerm.values()].toSorted((one, other) => other.hits - one.hits).slice(0, MAX_CLICKED);
}

const requestPart: Record<
  ReaderPart,
  (query: Query & { cursor?: string }, source: Source, readers: Readers) => Promise<PartResult>
> = {
  async visitors(query, source) {
    const { totals } = await source.docs.getVisitors({ ...query, limit: 1 }, source);
    return { figures: { visitors: { total: whole(totals.total) } } };
  },

  /** Reads the next terms, the most frequent first, until enough have no click. */
  async searches(query, source, { figures, clicked }) {
    const page = await source.docs.getSearches({ ...query, limit: SEARCH_LIMIT }, source);
    const unclicked = page.searches
      .filter(
        ({ hits, ctr, topClickedPage }) => hits >= MIN_HITS && ctr === 0 && topClickedPage === undefined,
      )
      .map(({ searchQuery, hits }) => ({ query: searchQuery, hits: whole(hits) }));
    // By term: a term may come again while rows shift.
    const found = new Map([...(figures.searches ?? []), ...unclicked].map((one) => [one.query, one]));
    const searches = [...found.values()]
      .toSorted((one, other) => other.hits - one.hits)
      .slice(0, MAX_SEARCHES);
    const rest = (page.searches.at(-1)?.hits ?? MIN_HITS) < MIN_HITS ? undefined : page.nextCursor;
    const cut = { searches: rest !== undefined || found.size > MAX_SEARCHES || undefined };
    const cursor = searches.length >= MAX_LISTED ? undefined : rest;
    return { figures: { searches, cut }, cursor, clicked: clicked && addClicked(clicked, page.searches) };
  },

  async feedback(query, source) {
    const { feedback, hasMore } = await source.docs.getFeedbackByPage(
      { ...query, limit: MAX_THUMBS },
      source,
    );
    // Keeps all: the next digest compares with pages of few thumbs.
    const thumbs = feedback
      .slice(0, MAX_THUMBS)
      .map(({ path, thumbsUp, thumbsDown }) => ({ path, up: whole(thumbsUp), down: whole(thumbsDown) }))
      .toSorted((one, other) => other.down - other.up - (one.down - one.up));
    return { figures: { thumbs, cut: { thumbs: hasMore || feedback.length >= MAX_THUMBS || undefined } } };
  },

  /** Counts the next conversations; only a complete count is shown. The readers' text is not read. */
  async questions(query, source, { open = NO_QUESTIONS }) {
    const page = await source.docs.getAssistantConversations({ ...query, limit: CONVERSATION_LIMIT }, source);
    const counts = new Map(Object.entries(open.topics));
    let all = { asked: open.asked, unanswered: open.unanswered };
    for (const { queryCategory: name, resolutionStatus } of page.conversations) {
      const missed = resolutionStatus === 'unanswered' ? 1 : 0;
      const add = ({ asked, unanswered } = NONE) => ({ asked: asked + 1, unanswered: unanswered + missed });
      all = add(all);
      if (name !== undefined && (counts.has(name) || counts.size < MAX_CATEGORIES))
        counts.set(name, add(counts.get(name)));
    }
    if (page.hasMore)
      return { cursor: page.nextCursor, counted: { ...all, topics: Object.fromEntries(counts) } };
    const found = [...counts]
      .map(([name, count]) => ({ name, ...count }))
      .filter((topic) => topic.unanswered > 0)
      .toSorted((one, other) => other.unanswered - one.unanswered);
    const cut = { questions: found.length > MAX_TOPICS || counts.size >= MAX_CATEGORIES || undefined };
    const topics = found.slice(0, MAX_TOPICS);
    return { figures: { questions: { ...all, category: topics[0]?.name, topics }, cut } };
  },
};
