import type { DocsApi } from '../../../docs-api/client.ts';
import { DocsApiError } from '../../../docs-api/errors.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { FiguresStore } from '../../../store/figures.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import { defineRunJob, idle, type StepResult, save, wait } from '../../job.ts';
import { nextFailure } from '../../polling.ts';
import { editionRun } from '../edition/record.ts';
import { addCounts, type Counts, type DayRange, isRefusal, MAX_LISTED } from '../model.ts';
import { daysOf, settledAtMs } from '../weeks.ts';
import { type FiguresRun, figuresRun, isSettled, READER_PARTS, type ReaderPart, rangeKey } from './record.ts';

const HOUR_MS = 3_600_000;

/** Requests per hour reserved for people, which digests in the background leave free. */
const KEPT_FOR_PEOPLE = 20;

/** Collecting gives up after this long: a digest is caught up within two days; a person waits for minutes. */
const GIVE_UP_MS = 48 * HOUR_MS;
const URGENT_GIVE_UP_MS = 5 * 60_000;
/** A project missing from the settings does not return by itself: its owner is informed sooner. */
const PROJECT_GIVE_UP_MS = HOUR_MS;
/** How long a person's request waits for the hourly limit. */
const URGENT_LIMIT_MS = 2 * HOUR_MS;

/** After this many consecutive failures, an optional part is left out. */
const MAX_PART_FAILURES = 3;

/** The longest wait before the next request, whatever the platform says: its limit is hourly. */
const LONGEST_WAIT_MS = HOUR_MS;
/** The longest pause between failures: each of them takes a request of the hour. */
const LONGEST_BACKOFF_MS = HOUR_MS / 2;

/** The pause after a 429 without `Retry-After`; the limit is hourly. */
const DEFAULT_LIMIT_MS = 60_000;

/**
 * Returns the name of the budget for analytics requests. The platform counts them per organization; if the settings
 * name none, the API key stands for it. `keyId` identifies the key without revealing it.
 */
export const analyticsBudget = (organization: string | undefined, keyId: string): string =>
  organization === undefined ? keyId : `organization:${organization}`;

/** Returns the limit of analytics requests from one budget; collecting in the background leaves a share to people. */
export const analyticsLimit = (budget: string, perHour: number): RateLimit => ({
  name: `analytics:${budget}`,
  count: perHour,
  windowMs: HOUR_MS,
  perId: true,
  interactiveShare: Math.min(KEPT_FOR_PEOPLE, Math.floor(perHour / 5)) / perHour,
});

/** Collects figures within the hourly limit, one request per step, and resumes at the same place. */
export const figuresJob = defineRunJob({
  name: 'digest-figures',
  queue: 'docs-analytics',
  concurrency: 20,
  schema: figuresRun,
  step: ({ run }, context) => (run.state === 'ended' ? wakeDigests(run, context) : step(run, context)),
  giveUp: async ({ run }) => end(run, 'platform'),
});

/** The digests that wait for the figures go on at once. */
async function wakeDigests(run: FiguresRun, context: JobContext): Promise<StepResult<FiguresRun>> {
  const digests = await context.runs.activeOf(editionRun, 'digest');
  await Promise.all(digests.filter(({ figures }) => figures?.includes(run.id)).map(context.wake));
  return idle;
}

const end = (run: FiguresRun, failed?: FiguresRun['failed']) =>
  save({
    ...run,
    state: 'ended' as const,
    failed,
    pollFailure: failed && run.pollFailure,
    limitedUntilMs: undefined,
  });

async function step(stored: FiguresRun, context: JobContext): Promise<StepResult<FiguresRun>> {
  const { now, rateLimiter, figures } = context;
  const waitMs = stored.nextMs - now();
  if (waitMs > 0) return wait(waitMs);
  const run = stored.requests === 0 ? await takeStored(stored, figures) : stored;
  const request = nextRequest(run);
  // Parts that exceed the request budget are reported as missing.
  if (request === undefined)
    return end(
      run.pages?.state === 'collecting' ? { ...run, pages: { ...run.pages, state: 'tooMany' } } : run,
    );
  const docs = context.docs(run.project);
  const projectId = context.projectId(run.project);
  if (docs === undefined || projectId === undefined) return retryLater(run, 'project', context);
  const limit = limitOf(run, docs, context);
  // A request keeps its slot until it is sent. A retry takes a new one, since both requests were sent.
  const id = `${run.id} ${run.sinceMs} ${run.requests}`;
  const inMs = await rateLimiter.takeSlot(limit, { id, priority: run.urgent ? 'interactive' : 'low' });
  if (inMs > 0) return waitForLimit(run, inMs, context);
  const sent = { ...run, requests: run.requests + 1 };
  try {
    const next = await request.send({ docs, projectId, signal: context.stopping }, figures, now());
    return save({ ...next, requests: sent.requests, pollFailure: undefined, limitedUntilMs: undefined });
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return wait(0);
    if (error.kind === 'rate_limited') await rateLimiter.hold(limit, error.retryAfterMs ?? DEFAULT_LIMIT_MS);
    const { part } = request;
    if (part === undefined) return retryLater(sent, error, context);
    const isRefused = REFUSALS.includes(error.kind);
    if (isRefused) await figures.markUnsupported(supportKey(run, part));
    const { kind, inARow } = nextFailure(run.pollFailure, error, context);
    const isLeftOut = isRefused || (kind === 'down' && inARow >= MAX_PART_FAILURES);
    return isLeftOut ? save(leaveOut(sent, part)) : retryLater(sent, error, context);
  }
}

function limitOf(
  run: FiguresRun,
  { keyId }: Pick<DocsApi, 'keyId'>,
  { limits, projects }: Pick<JobContext, 'limits' | 'projects'>,
) {
  const project = projects.find(({ name }) => name === run.project);
  return analyticsLimit(analyticsBudget(project?.organization, keyId), limits.analyticsPerHour);
}

/** Records a noticeable wait, so that messages can show it. It is limited in time like any other failure. */
function waitForLimit(run: FiguresRun, inMs: number, { now }: JobContext): StepResult<FiguresRun> {
  const nowMs = now();
  if (nowMs - run.sinceMs >= (run.urgent ? URGENT_LIMIT_MS : GIVE_UP_MS)) {
    const pollFailure = { kind: 'limit' as const, inARow: 1, nextMs: nowMs, sinceMs: nowMs };
    return end({ ...run, pollFailure }, 'platform');
  }
  const untilMs = nowMs + inMs;
  const isSaid = Math.abs((run.limitedUntilMs ?? 0) - untilMs) < 60_000;
  return isSaid || inMs < 10_000 ? wait(inMs) : save({ ...run, limitedUntilMs: untilMs }, { inMs });
}

/** An optional part that the platform lacks or refuses is left out for a day. */
const REFUSALS: DocsApiError['kind'][] = ['not_found', 'unsupported', 'forbidden', 'bad_request'];

/** Retries after a growing pause, or gives up. */
async function retryLater(
  run: FiguresRun,
  error: DocsApiError | 'project',
  context: JobContext,
): Promise<StepResult<FiguresRun>> {
  const { now, timing, random, alertAdmins } = context;
  const { urgent, pollFailure: before } = run;
  const isProject = error === 'project';
  const next = nextFailure(before, error, context);
  if (!isProject && (next.kind === 'key' || error.kind === 'forbidden'))
    await alertAdmins(run.teamId, run.project, error);
  const isNew = isProject && before?.kind !== 'project';
  const sinceMs = (isNew ? undefined : before?.sinceMs) ?? now();
  const platform = isProject ? {} : { status: error.status, said: error.platformMessage };
  // In the background, pauses grow to half an hour. At the first refusal, the platform's own time counts.
  const isOwn = !urgent && !isProject && (next.kind !== 'limit' || next.inARow > 1);
  const retryMinMs = next.kind === 'limit' ? DEFAULT_LIMIT_MS : timing.retryMinMs;
  const pauseMs = isOwn
    ? backoffMs({ retryMinMs, retryMaxMs: LONGEST_BACKOFF_MS }, next.inARow, random())
    : 0;
  const nextMs = Math.min(Math.max(next.nextMs, now() + pauseMs), now() + LONGEST_WAIT_MS);
  const pollFailure = { ...next, sinceMs, ...platform };
  const urgentMs = isRefusal(next) ? 0 : URGENT_GIVE_UP_MS;
  const giveUpMs = urgent ? urgentMs : isProject ? PROJECT_GIVE_UP_MS : GIVE_UP_MS;
  if (now() - sinceMs >= giveUpMs) return end({ ...run, pollFailure }, isProject ? 'project' : 'platform');
  const limitedUntilMs = next.kind === 'limit' ? nextMs : undefined;
  return save({ ...run, limitedUntilMs, nextMs, pollFailure }, { inMs: Math.max(1, nextMs - now()) });
}

/** Rows per request, the platform's maximum. */
const PAGE_LIMIT = 250;
const SEARCH_LIMIT = 100;
export const FEEDBACK_LIMIT = 100;
/** Fewer than the platform's maximum, because the answers in them are long. */
const CONVERSATION_LIMIT = 250;

/** Requests per part of the readers' figures; an incomplete list of questions would mislead. */
const MAX_PART_REQUESTS = 20;

/** Maximum number of counted categories; a hostile platform could send any number. */
const MAX_CATEGORIES = 100;

/** A search with fewer hits does not count. */
const MIN_HITS = 10;

/** If requests are few, this many are reserved for the list of pages, which matters more than the readers' figures. */
const KEPT_FOR_PAGES = 4;

interface Source {
  docs: DocsApi;
  projectId: string;
  signal: AbortSignal;
}

interface NextRequest {
  /** A part of the readers' figures, which may be left out. */
  part?: ReaderPart;
  /** Sends the request, stores final figures for other runs, and returns the run with the result. */
  send(source: Source, figures: FiguresStore, nowMs: number): Promise<FiguresRun>;
}

/**
 * Returns the next request of a run, if it may make one. Totals come first, so that a digest is on time; then parts of
 * few requests; the list of pages last.
 */
function nextRequest(run: FiguresRun): NextRequest | undefined {
  const { spans, readers, pages, maxRequests = Infinity, requests } = run;
  const span = spans.find(({ counts }) => counts === undefined);
  if (span !== undefined) return { send: (...parts) => requestTotals(run, span, ...parts) };
  const left = maxRequests - requests;
  if (left <= 0) return undefined;
  const part = READER_PARTS.find((one) => !readers?.done.includes(one));
  const needsPages = pages?.state === 'collecting';
  if (readers && part !== undefined && (left > KEPT_FOR_PAGES || !needsPages))
    return {
      part,
      send: async (source) => ({ ...run, readers: await requestReaders(readers, part, run.range, source) }),
    };
  return needsPages
    ? { send: (source, figures) => requestPages(run, pages.offset, source, figures) }
    : undefined;
}

/** Returns the run with the stored figures, and without the parts that the platform is known to lack. */
async function takeStored(run: FiguresRun, figures: FiguresStore): Promise<FiguresRun> {
  const days = await figures.days(run, daysOf(run.range));
  const spans = run.spans.map((span) => {
    const stored = daysOf(span).flatMap((day) => days.get(day) ?? []);
    return stored.length < daysOf(span).length ? span : { ...span, counts: addCounts(stored) };
  });
  let taken: FiguresRun = { ...run, spans };
  if (run.pages && isSettled(run) && (await figures.reusePages(run, rangeKey(run.range))))
    taken = { ...taken, pages: { offset: 0, state: 'complete' } };
  for (const part of run.readers ? READER_PARTS : [])
    if (await figures.isUnsupported(supportKey(run, part))) taken = leaveOut(taken, part);
  return taken;
}

/** Views as whole numbers from 0: a platform may send anything. */
const toViews = ({ human, ai }: Counts): Counts => ({ human: whole(human), ai: whole(ai) });

const whole = (value: number) => Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER);

const queryOf = ({ from, to }: DayRange, { projectId }: Source): Query => ({
  projectId,
  dateFrom: from,
  dateTo: to,
});

async function requestTotals(
  run: FiguresRun,
  span: FiguresRun['spans'][number],
  source: Source,
  figures: FiguresStore,
  nowMs: number,
): Promise<FiguresRun> {
  const query = { ...queryOf(span, source), limit: 1 };
  const counts = toViews((await source.docs.getPageViews(query, { signal: source.signal })).totals);
  if (daysOf(span).length === 1 && settledAtMs(span) <= nowMs)
    await figures.addDay(run, span.from, counts, nowMs);
  return { ...run, spans: run.spans.map((one) => (one === span ? { ...one, counts } : one)) };
}

async function requestPages(
  run: FiguresRun,
  offset: number,
  source: Source,
  figures: FiguresStore,
): Promise<FiguresRun> {
  const query = { ...queryOf(run.range, source), limit: PAGE_LIMIT, offset };
  const page = await source.docs.getPageViews(query, { signal: source.signal });
  const pages = page.views.map((views) => ({ path: views.path, ...toViews(views) }));
  const rows = pages.length + (page.leftOut ?? 0);
  // A platform that says "more" without any row would be asked for ever.
  const hasMore = page.hasMore && rows > 0;
  await figures.addPages(run, rangeKey(run.range), offset, pages);
  if (!hasMore && isSettled(run)) await figures.completePages(run, rangeKey(run.range));
  // The offset follows the rows received, not those requested: a platform may return fewer.
  return { ...run, pages: { offset: offset + rows, state: hasMore ? 'collecting' : 'complete' } };
}

/** The name of a part that the platform does not have, or refuses. */
const supportKey = ({ teamId, project }: FiguresRun, part: ReaderPart) =>
  `analytics:${teamId}:${project}:${part}`;

/** Returns the run without a part of the readers' figures. */
const leaveOut = (run: FiguresRun, part: ReaderPart): FiguresRun => ({
  ...run,
  pollFailure: undefined,
  readers: run.readers && withPart(run.readers, part),
});

type Readers = NonNullable<FiguresRun['readers']>;

/** Returns the readers' figures after one more request for `part`. */
export async function requestReaders(
  readers: Readers,
  part: ReaderPart,
  range: DayRange,
  source: Source,
): Promise<Readers> {
  const query = queryOf(range, source);
  const { docs, signal } = source;
  const finish = (figures: Partial<Readers['figures']>): Readers => ({
    ...withPart(readers, part),
    figures: { ...readers.figures, ...figures },
  });
  switch (part) {
    case 'visitors': {
      const { totals } = await docs.getVisitors({ ...query, limit: 1 }, { signal });
      return finish({ visitors: { total: whole(totals.total) } });
    }
    case 'searches':
      return requestSearches(readers, query, source);
    case 'feedback': {
      const { feedback } = await docs.getFeedbackByPage({ ...query, limit: FEEDBACK_LIMIT }, { signal });
      // Keeps all: the next digest compares with pages of few thumbs.
      const rated = feedback
        .slice(0, FEEDBACK_LIMIT)
        .map(({ path, thumbsUp, thumbsDown }) => ({ path, up: whole(thumbsUp), down: whole(thumbsDown) }));
      return finish({ thumbs: rated.toSorted((one, other) => other.down - other.up - (one.down - one.up)) });
    }
    case 'questions':
      return requestQuestions(readers, query, source);
  }
}

type Query = { projectId: string; dateFrom: string; dateTo: string };

/** Reads the next terms, the most frequent first, until enough have no click. */
async function requestSearches(readers: Readers, query: Query, { docs, signal }: Source): Promise<Readers> {
  const page = await docs.getSearches({ ...query, limit: SEARCH_LIMIT, ...cursorOf(readers) }, { signal });
  const unclicked = page.searches
    .filter(({ hits, ctr, topClickedPage }) => hits >= MIN_HITS && ctr === 0 && topClickedPage === undefined)
    .map(({ searchQuery, hits }) => ({ query: searchQuery, hits: whole(hits) }));
  // By term: a term may come again while rows shift.
  const found = new Map([...(readers.figures.searches ?? []), ...unclicked].map((one) => [one.query, one]));
  const searches = [...found.values()].toSorted((one, other) => other.hits - one.hits).slice(0, MAX_LISTED);
  const next = { ...readers, figures: { ...readers.figures, searches } };
  const isOver = searches.length === MAX_LISTED || (page.searches.at(-1)?.hits ?? MIN_HITS) < MIN_HITS;
  return (isOver ? undefined : goOn(next, page.nextCursor)) ?? withPart(next, 'searches');
}

const cursorOf = ({ open }: Readers) => (open === undefined ? {} : { cursor: open.cursor });

const NO_QUESTIONS = { asked: 0, unanswered: 0, categories: {} as Record<string, number> };

/** Returns how a part continues; undefined if it is complete, or has reached its limit of requests. */
function goOn(readers: Readers, cursor: string | undefined, counted = NO_QUESTIONS): Readers | undefined {
  const requests = (readers.open?.requests ?? 0) + 1;
  const isNew = cursor !== undefined && cursor !== readers.open?.cursor;
  return isNew && requests < MAX_PART_REQUESTS
    ? { ...readers, open: { ...counted, cursor, requests } }
    : undefined;
}

/** Counts the next conversations; only a complete count is shown. The readers' text is not read. */
async function requestQuestions(readers: Readers, query: Query, { docs, signal }: Source): Promise<Readers> {
  const paging = { limit: CONVERSATION_LIMIT, ...cursorOf(readers) };
  const page = await docs.getAssistantConversations({ ...query, ...paging }, { signal });
  const before = readers.open ?? NO_QUESTIONS;
  const categories = new Map(Object.entries(before.categories));
  const open = page.conversations.filter(({ resolutionStatus }) => resolutionStatus === 'unanswered');
  for (const { queryCategory: name } of open)
    if (name !== undefined && (categories.has(name) || categories.size < MAX_CATEGORIES))
      categories.set(name, (categories.get(name) ?? 0) + 1);
  const asked = before.asked + page.conversations.length;
  const unanswered = before.unanswered + open.length;
  const done = withPart(readers, 'questions');
  if (page.hasMore) {
    const counted = { asked, unanswered, categories: Object.fromEntries(categories) };
    return goOn(readers, page.nextCursor, counted) ?? done;
  }
  const [category] = [...categories].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  const questions = { asked, unanswered, ...(category !== undefined && { category }) };
  return { ...done, figures: { ...readers.figures, questions } };
}

/** The part is done: no more requests for it. */
export const withPart = ({ done, figures }: Readers, part: ReaderPart): Readers => ({
  figures,
  done: [...done, part],
});
