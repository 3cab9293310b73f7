import { isDeepStrictEqual } from 'node:util';
import { wait } from '../../../runtime/later.ts';
import { slackRateLimit } from '../../../slack/rate-limits.ts';
import { askEnding } from '../../agent/thread/instructions.ts';
import { type DigestOrigin, threadRun } from '../../agent/thread/record.ts';
import type { JobContext } from '../../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../../engine/job.ts';
import {
  distinct,
  openedMs,
  pullRequestId,
  pullRequestKind,
  pullRequestRun,
  stateOf,
  waitsForReview,
} from '../../pull-request/record.ts';
import { filterVisible } from '../../shared/origin.ts';
import { deliveryCheckMs } from '../../shared/place.ts';
import { postWhereAsked, reportPrivately } from '../../shared/report.ts';
import { UNANSWERED } from '../buttons.ts';
import { causeOf, collectFigures, type FiguresRun, figuresRun, hasTotals } from '../figures/record.ts';
import { takeGaps } from '../gaps.ts';
import {
  addCounts,
  comparePages,
  isRefusal,
  type PageChange,
  pageFiguresOf,
  type ReaderFigures,
  totalOf,
} from '../model.ts';
import { awaitsRows, loadSince } from '../row/since.ts';
import { daysOf, rangeBefore, unitOf } from '../weeks.ts';
import { stepCsv } from './files.ts';
import { loadInside } from './inside.ts';
import {
  type EditionRun,
  editionRun,
  figuresOf,
  isScheduled,
  lateNow,
  rootKey,
  scheduledId,
} from './record.ts';
import { noNumbersMessage, waitsMessage } from './reply-view.ts';
import { editionMessages } from './view.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Longest pause between checks of figures that another run collects: short at first, then longer. */
const MAX_CHECK_MS = 15_000;

/** A requester is informed of waits longer than this. */
const MIN_REPORTED_MS = 30_000;

/** This many consecutive failures are not chance. */
const MIN_FAILURES = 3;

/** Posts a digest as soon as its totals are there, adds the pages, and ends. */
export const editionJob = defineRunJob({
  name: 'digest',
  queue: 'docs-analytics',
  concurrency: 20,
  schema: editionRun,
  messages: editionMessages,
  auditLine: ({ owner, channel, site, week }) => ({
    user: owner,
    channel,
    what: 'digest',
    subject: site,
    ...(week !== undefined && { job: week }),
  }),
  step,
  giveUp: async (run, _context, ref) => end(run, { why: 'broken', code: ref }),
});

const end = (run: EditionRun, ended: NonNullable<EditionRun['ended']>) =>
  save({ ...run, state: 'ended' as const, ended }, { audit: ended.why === 'done' ? 'posted' : ended.why });

async function step(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  if (run.state === 'ended') return idle;
  if (run.state !== 'completing' && run.figures === undefined) {
    const wanted = figuresOf(run, context.now());
    for (const figures of wanted) await collectFigures(figures, context);
    return save({ ...run, figures: wanted.map(({ id }) => id) });
  }
  if (run.state === 'collecting') return awaitTotals(run, context);
  const pending = await awaitRootMessage(run, context);
  if (pending !== undefined) return pending;
  if (run.state === 'posted') return awaitPages(run, context);
  return (await stepCsv(run, context)) ?? end(run, { why: 'done' });
}

const checkLater = (run: EditionRun, context: JobContext) =>
  wait(deliveryCheckMs(run, context, MAX_CHECK_MS));

/** Returns the runs that collect its figures and those of the range before; `open` are those that have not ended. */
async function loadFigures({ figures: ids = [] }: EditionRun, { store: { runs } }: JobContext) {
  const [figures, before] = await Promise.all(ids.map((id) => runs.load(id, figuresRun)));
  const open = [figures, before].flatMap((one) => (one && one.state !== 'ended' ? [one] : []));
  return { figures, before, open };
}

/** Waits for the totals. Only they must be on time; without the earlier totals there is no comparison. */
async function awaitTotals(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const { now, timing } = context;
  const { figures, before, open } = await loadFigures(run, context);
  if (figures === undefined) return end(run, { why: 'platform' });
  if (!hasTotals(figures)) return withoutTotals(run, figures, context);
  // The comparison may come later. A digest of a schedule waits equally long for its pages, which saves an edit.
  const lacksTotals = before !== undefined && open.includes(before) && !hasTotals(before);
  const awaits = lacksTotals || (open.length > 0 && isScheduled(run));
  if (awaits && now() - run.dueAtMs < timing.digestWaitMs) return checkLater(run, context);
  const slot = slackRateLimit('digests', run.teamId, timing);
  if (isScheduled(run)) await context.store.rateLimiter.awaitSlot(slot, { id: run.id });
  const spans = figures.spans.flatMap(({ from, to, counts }) => (counts ? [{ from, to, ...counts }] : []));
  const posted: EditionRun = {
    ...run,
    state: 'posted',
    sinceMs: now(),
    ...lateNow(run, now()),
    totals: addCounts(spans),
    weekViews: await loadWeekViews(run, context),
    totalsBefore: totalsOf(before),
    spans,
  };
  const isOpen = open.length > 0 || (await awaitsRows(posted, context));
  return save(isOpen ? posted : await complete(posted, figures, before, context));
}

async function withoutTotals(run: EditionRun, figures: FiguresRun, context: JobContext) {
  const cause = causeOf(figures);
  if (figures.state === 'ended') return end(run, { why: 'platform', cause });
  // Its owner should know at once if only a person can fix it, else after an hour.
  const isStuck = cause !== undefined && context.now() - run.dueAtMs >= (isRefusal(cause) ? 0 : HOUR_MS);
  if (isStuck && !isDeepStrictEqual(cause, run.stuck)) return save({ ...run, stuck: cause });
  const isNew = await reportWait(run, figures, context);
  return isNew ? save({ ...run, waitReported: true }) : checkLater(run, context);
}

/** Checks that the first message is posted. Returns undefined if nothing is to be done. */
async function awaitRootMessage(run: EditionRun, context: JobContext) {
  const { outbox } = context;
  const delivery = await outbox.deliveryState(rootKey(run));
  if (delivery.kind === 'refused') return end(run, { why: 'place', code: delivery.code });
  if (delivery.kind === 'waiting') return wait(deliveryCheckMs(run, context));
  const { channel, ts: rootTs } = delivery;
  await context.store.threads.close({ teamId: run.teamId, channel, rootTs });
  return undefined;
}

/** Waits for the lists of pages, which the hourly limit may delay. */
async function awaitPages(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const { figures, before, open } = await loadFigures(run, context);
  if (open.length === 0 && !(await awaitsRows(run, context)))
    return save(await complete(run, figures, before, context));
  const totalsBefore = run.totalsBefore ?? totalsOf(before);
  const pagesWait = pagesWaitOf(run, open, context) ?? run.pagesWait;
  const next = { ...run, totalsBefore, pagesWait };
  return isDeepStrictEqual(next, { totalsBefore: undefined, pagesWait: undefined, ...run })
    ? checkLater(run, context)
    : save(next);
}

/** Whether to report a failure: a transient one may pass by itself. */
const isPersistent = ({ pollFailure }: FiguresRun) =>
  pollFailure !== undefined &&
  pollFailure.kind !== 'limit' &&
  (isRefusal(pollFailure) || pollFailure.inARow >= MIN_FAILURES);

/** Returns until when limits delay the figures; 0 if they do not. */
const limitedUntilMs = ({ pollFailure }: FiguresRun) =>
  pollFailure?.kind === 'limit' ? pollFailure.nextMs : 0;

/** Returns why the lists of pages come later, if that is new. After a promised time has passed, it has no time. */
function pagesWaitOf({ pagesWait }: EditionRun, open: readonly FiguresRun[], { now }: JobContext) {
  const promisedMs = pagesWait?.untilMs ?? 0;
  const isPast = promisedMs > 0 && promisedMs <= now();
  const isRefusedAgain = (one: FiguresRun) =>
    isPast && limitedUntilMs(one) > 0 && one.pollFailure?.status !== undefined;
  const failing = open.find((one) => isPersistent(one) || isRefusedAgain(one));
  const cause = failing && causeOf(failing);
  if (cause !== undefined) return promisedMs > 0 || cause.kind !== pagesWait?.kind ? cause : undefined;
  const untilMs = Math.max(0, ...open.map(limitedUntilMs));
  // After a refusal, no second promise is made.
  const isPromise = (pagesWait === undefined || promisedMs > 0) && untilMs > promisedMs + MINUTE_MS;
  return isPromise ? { kind: 'limit' as const, untilMs } : undefined;
}

/** Informs the requester of a delay, once, and returns whether it did. For one of a schedule, only if a person sent it. */
async function reportWait(run: EditionRun, figures: FiguresRun, context: JobContext): Promise<boolean> {
  const { sentBy, sinceMs, owner } = run;
  const untilMs = limitedUntilMs(figures);
  const scheduled = isScheduled(run);
  if (run.waitReported || (scheduled && sentBy === undefined)) return false;
  const isStuck = scheduled && isPersistent(figures);
  if (!isStuck && untilMs - context.now() < MIN_REPORTED_MS) return false;
  const message = isStuck ? noNumbersMessage(run, causeOf(figures)) : waitsMessage(run, untilMs);
  if (sentBy === undefined) await reportPrivately(run, { name: 'wait', userId: owner.id, message }, context);
  else await postWhereAsked(run, `wait ${sinceMs}`, message, context, sentBy);
  return true;
}

const totalsOf = (figures: FiguresRun | undefined) =>
  figures && hasTotals(figures) ? addCounts(figures.spans.flatMap(({ counts }) => counts ?? [])) : undefined;

async function complete(
  run: EditionRun,
  figures: FiguresRun | undefined,
  before: FiguresRun | undefined,
  context: JobContext,
): Promise<EditionRun> {
  const totalsBefore = totalsOf(before);
  const { all, ...listed } = await loadPages({ ...run, totalsBefore }, figures, before, context);
  const readers = run.sections.includes('readers') ? figures?.readers?.figures : undefined;
  const shown = readers && (await takeGaps(run, readers, context));
  const hasCsv = listed.pages !== undefined && run.sections.includes('csv') && !run.inDirectMessage;
  return {
    ...run,
    state: 'completing',
    sinceMs: context.now(),
    ...listed,
    totalsBefore,
    pagesWait: undefined,
    readers: shown?.readers,
    gaps: shown?.gaps,
    readersBefore: before?.readers?.figures,
    ...(await loadInside(run, context)),
    followUps: await loadFollowUps(run, all, readers, context),
    reviews: await loadReviews(run, context),
    ...(await loadSince(run, context)),
    csv: run.csv ?? (hasCsv ? { state: 'open', checks: 0, attempt: 1 } : undefined),
  };
}

async function loadPages(
  run: EditionRun,
  figures: FiguresRun | undefined,
  before: FiguresRun | undefined,
  { store: { figures: stored } }: JobContext,
): Promise<Pick<EditionRun, 'pages' | 'noPages'> & { all?: PageChange[] }> {
  if (figures?.pages === undefined) return {};
  if (!figures.pages.isComplete)
    return { noPages: figures.maxRequests === undefined || causeOf(figures) ? 'failed' : 'tooMany' };
  const earlier = before?.pages?.isComplete ? stored.pages(run, before.range) : [];
  const all = await comparePages(stored.pages(run, run.range), earlier);
  const hasViews = run.totals !== undefined && totalOf(run.totals) > 0;
  if (hasViews && all.every((page) => totalOf(page) === 0)) return { noPages: 'failed' };
  // Without any earlier pages everything would look new, unless nothing was read then.
  const hadNone = run.totalsBefore !== undefined && totalOf(run.totalsBefore) === 0;
  const isCompared = hadNone || all.some((page) => totalOf(page.before) > 0);
  return { all, pages: pageFiguresOf(all, isCompared) };
}

/** Number of weeks in a trend, including the digest's own. */
const MAX_WEEKS = 8;

/** Returns the views of a digest's week and of the stored weeks before it, latest first. */
async function loadWeekViews({ kind, week, ...run }: EditionRun, { store: { figures } }: JobContext) {
  if (kind === 'asked' || week === undefined || unitOf(week) === 'month') return undefined;
  const views: number[] = [];
  for (let { range } = run; views.length < MAX_WEEKS; range = rangeBefore(range)) {
    const days = daysOf(range);
    const stored = await figures.days(run, days);
    if (stored.size < days.length) break;
    views.push(totalOf(addCounts([...stored.values()])));
  }
  return views;
}

/** Returns the agent's results for the requests under the previous digest, with the present numbers. */
export async function loadFollowUps(
  run: EditionRun,
  pages: readonly PageChange[] | undefined,
  readers: ReaderFigures | undefined,
  { store: { runs, figures }, gitHost }: Pick<JobContext, 'store' | 'gitHost'>,
): Promise<EditionRun['followUps']> {
  if (run.lastWeek === undefined) return [];
  const last = scheduledId(run, run.lastWeek);
  const asked = (await runs.loadAll(await figures.asks(last), threadRun)).flatMap((thread) =>
    thread.instructions.map((one) => {
      const ending = askEnding(thread, one);
      const pull = gitHost(run.project)?.parse(ending?.prLink ?? '');
      return { ...one, ending, pull: pull && pullRequestId(thread.id, pull.repository, pull.number) };
    }),
  );
  const ids = asked.flatMap(({ pull }) => pull ?? []);
  const states = new Map(
    (await runs.loadAll(ids, pullRequestRun)).map((one) => [one.id, stateOf(one).state]),
  );
  return asked
    .toSorted((one, other) => one.atMs - other.atMs)
    .flatMap(({ origin, ending, pull = '' }): EditionRun['followUps'] => {
      if (origin?.digest !== last || ending?.kind === 'notSent') return [];
      const { subject } = origin;
      const after = numberOf(subject, pages, readers);
      const { prLink, kind } = ending ?? {};
      return [{ subject, after, prLink, ending: kind, pullRequest: states.get(pull) }];
    });
}

const DAY_MS = 24 * HOUR_MS;

/** Counts the pull requests that wait for a review, as far as everybody who gets the digest may see them. */
async function loadReviews(
  run: EditionRun,
  { store, slack, now }: JobContext,
): Promise<EditionRun['reviews']> {
  const open = await store.runs.activeOf(pullRequestRun, 'pull-request', run.teamId);
  const waiting = open.filter((one) => one.project === run.project && waitsForReview(one));
  const user = { id: run.inDirectMessage ? run.owner.id : '', fullMember: true };
  const viewer = { user, channel: { id: run.channel } };
  const visible = distinct(await filterVisible(waiting, pullRequestKind.visible, viewer, slack.isPublic));
  if (visible.length === 0) return undefined;
  const oldestMs = Math.min(...visible.map(openedMs));
  return { count: visible.length, days: Math.floor((now() - oldestMs) / DAY_MS) };
}

/** Returns the present number of a subject: 0 if a complete list lacks it. Only searches without a click are listed. */
function numberOf(
  { kind, name }: DigestOrigin['subject'],
  pages: readonly PageChange[] | undefined,
  { thumbs, searches, questions, cut }: ReaderFigures = {},
): EditionRun['followUps'][number]['after'] {
  if (kind === 'page') {
    const found = pages?.find(({ path }) => path === name);
    return found ? totalOf(found) : pages && 0;
  }
  if (kind === 'questions') {
    const { unanswered, topics } = questions ?? {};
    if (name === UNANSWERED) return unanswered;
    const isComplete = topics !== undefined && !cut?.questions;
    return topics?.find((topic) => topic.name === name)?.unanswered ?? (isComplete ? 0 : undefined);
  }
  if (kind === 'search')
    return searches && (searches.find(({ query }) => query === name)?.hits ?? 'unlisted');
  const isComplete = thumbs !== undefined && !cut?.thumbs;
  return thumbs?.find(({ path }) => path === name)?.down ?? (isComplete ? 0 : undefined);
}
