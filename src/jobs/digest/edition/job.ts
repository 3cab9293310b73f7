import { isDeepStrictEqual } from 'node:util';
import { slackRateLimit } from '../../../slack/rate-limits.ts';
import { type DigestOrigin, threadRun } from '../../agent/thread/record.ts';
import { type AskEnding, askEnding } from '../../agent/thread/transitions.ts';
import { deliveryCheckMs, postWhereAsked, reportPrivately } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { defineRunJob, idle, type StepResult, save, wait } from '../../job.ts';
import { FEEDBACK_LIMIT } from '../figures/job.ts';
import {
  causeOf,
  collectFigures,
  type FiguresRun,
  figuresRun,
  hasTotals,
  rangeKey,
} from '../figures/record.ts';
import {
  addCounts,
  comparePages,
  isRefusal,
  type PageChange,
  pageFiguresOf,
  type ReaderFigures,
  totalOf,
} from '../model.ts';
import { daysOf, weekBefore } from '../weeks.ts';
import { stepCsv } from './files.ts';
import { type EditionRun, editionRun, figuresOf, lateNow, rootKey, weeklyId } from './record.ts';
import { stuckReply, waitsMessage } from './reply-view.ts';
import { editionMessages } from './view.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Longest pause between checks of figures that another run collects: short at first, then longer. */
const MAX_CHECK_MS = 15_000;

/** A requester is informed of waits longer than this. */
const MIN_REPORTED_MS = 30_000;

/** This many consecutive failures are not chance. */
const MIN_FAILURES = 3;

/** Whether the workspace refuses charts, cached for a day. */
const chartSupportKey = (teamId: string) => `slack-charts:${teamId}`;

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
  step: ({ run }, context) => step(run, context),
  giveUp: async ({ run }, _context, ref) =>
    run.state === 'ended' ? idle : end(run, { why: 'broken', code: ref }),
});

type Ended = NonNullable<EditionRun['ended']>;

const end = (run: EditionRun, ended: Ended) =>
  save({ ...run, state: 'ended' as const, ended }, { audit: ended.why === 'done' ? 'posted' : ended.why });

async function step(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  if (run.state === 'ended') return idle;
  if (run.state !== 'completing' && run.figures === undefined) {
    const wanted = figuresOf(run, context.now());
    for (const figures of wanted) await collectFigures(figures, context);
    return save({ ...run, figures: wanted.map(({ id }) => id) });
  }
  if (run.state === 'collecting') return awaitTotals(run, context);
  const update = await updateRootMessage(run, context);
  if (update !== undefined) return update;
  if (run.state === 'posted') return awaitPages(run, context);
  return (await stepCsv(run, context)) ?? end(run, { why: 'done' });
}

const checkLater = (run: EditionRun, context: JobContext) =>
  wait(deliveryCheckMs(run, context, MAX_CHECK_MS));

/** Returns the runs that collect its figures and those of the range before; `open` are those that have not ended. */
async function loadFigures({ figures: ids = [] }: EditionRun, { runs }: JobContext) {
  const [figures, before] = await Promise.all(ids.map((id) => runs.load(id, figuresRun)));
  const open = [figures, before].flatMap((one) => (one && one.state !== 'ended' ? [one] : []));
  return { figures, before, open };
}

/** Waits for the totals. Only they must be on time; without the earlier totals there is no comparison. */
async function awaitTotals(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const { now, rateLimiter, timing, figures: stored } = context;
  const { figures, before, open } = await loadFigures(run, context);
  if (figures === undefined) return end(run, { why: 'platform' });
  if (!hasTotals(figures)) return withoutTotals(run, figures, context);
  const isWeekly = run.kind === 'weekly';
  // The comparison may come later. A weekly digest waits equally long for its pages, which saves an edit.
  const lacksTotals = before !== undefined && open.includes(before) && !hasTotals(before);
  const awaits = lacksTotals || (open.length > 0 && isWeekly);
  if (awaits && now() - run.dueAtMs < timing.digestWaitMs) return checkLater(run, context);
  const slot = slackRateLimit('digests', run.teamId, timing);
  const inMs = isWeekly ? await rateLimiter.takeSlot(slot, { id: run.id }) : 0;
  if (inMs > 0) return wait(inMs);
  const spans = figures.spans.flatMap(({ from, to, counts }) => (counts ? [{ from, to, ...counts }] : []));
  const posted: EditionRun = {
    ...run,
    state: 'posted',
    sinceMs: now(),
    ...lateNow(run, now()),
    totals: addCounts(spans),
    trend: await loadTrend(run, context),
    ...totalsBeforeOf(before),
    spans,
    followUps: await loadFollowUps(run, context),
    hasChart: !(await stored.isUnsupported(chartSupportKey(run.teamId))),
  };
  return save(open.length > 0 ? posted : await complete(posted, figures, before, context));
}

/** Ends without totals, or reports what delays them. */
async function withoutTotals(
  run: EditionRun,
  figures: FiguresRun,
  context: JobContext,
): Promise<StepResult<EditionRun>> {
  const { now, docs, projectId } = context;
  const { state, failed, project, pollFailure } = figures;
  const cause = causeOf(figures);
  if (state === 'ended') return end(run, { why: failed ?? 'platform', cause });
  const sinceDueMs = now() - run.dueAtMs;
  const lacksProject = docs(project) === undefined || projectId(project) === undefined;
  // Only a person can fix this, and can then post it by hand.
  if (sinceDueMs >= 0 && pollFailure?.kind === 'project' && lacksProject) return end(run, { why: 'project' });
  // Its owner should know at once if only a person can fix it, else after an hour.
  const isStuck = cause !== undefined && sinceDueMs >= (isRefusal(cause) ? 0 : HOUR_MS);
  if (isStuck && !isDeepStrictEqual(cause, run.stuck)) return save({ ...run, stuck: cause });
  const isNew = await reportWait(run, figures, context);
  return isNew ? save({ ...run, waitReported: true }) : checkLater(run, context);
}

/** Checks that the first message is posted, and shows its chart. Returns undefined if nothing is to be done. */
async function updateRootMessage(
  run: EditionRun,
  context: JobContext,
): Promise<StepResult<EditionRun> | undefined> {
  const { outbox, figures, threads } = context;
  const delivery = await outbox.deliveryState(rootKey(run));
  if (delivery.kind === 'refused') return end(run, { why: 'place', code: delivery.code });
  if (delivery.kind === 'waiting') return wait(deliveryCheckMs(run, context));
  const { channel, ts: rootTs, fellBack } = delivery;
  await threads.close({ teamId: run.teamId, channel, rootTs });
  // The message is shown without its chart, so Slack refused the chart.
  if (!fellBack || !run.hasChart) return undefined;
  await figures.markUnsupported(chartSupportKey(run.teamId));
  return save({ ...run, hasChart: false });
}

/** Waits for the lists of pages, which the hourly limit may delay. */
async function awaitPages(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const { figures, before, open } = await loadFigures(run, context);
  if (open.length === 0) return save(await complete(run, figures, before, context));
  const changes = {
    ...(run.totalsBefore === undefined && totalsBeforeOf(before)),
    ...findPagesWait(run, open, context),
  };
  return Object.keys(changes).length > 0 ? save({ ...run, ...changes }) : checkLater(run, context);
}

/** Whether to report a failure: a transient one may pass by itself. */
const isPersistent = ({ pollFailure }: FiguresRun) =>
  pollFailure !== undefined &&
  pollFailure.kind !== 'limit' &&
  (isRefusal(pollFailure) || pollFailure.inARow >= MIN_FAILURES);

/**
 * Returns when limits allow the delayed lists of pages at the earliest; if the platform fails, or refuses again after a
 * wait, why they are delayed. Returns undefined if nothing is new.
 */
function findPagesWait(
  { pagesFromMs = 0, pagesHeld }: EditionRun,
  open: readonly FiguresRun[],
  { now }: JobContext,
): Pick<EditionRun, 'pagesFromMs' | 'pagesHeld'> | undefined {
  const isBroken = pagesFromMs > 0 && pagesFromMs <= now();
  const failing = open.find((one) => isPersistent(one) || (isBroken && one.pollFailure?.kind === 'limit'));
  const cause = failing && causeOf(failing);
  if (cause !== undefined && cause.kind !== pagesHeld?.kind)
    return { pagesFromMs: undefined, pagesHeld: cause };
  const untilMs = Math.max(0, ...open.map(({ limitedUntilMs = 0 }) => limitedUntilMs));
  // No second promise is made.
  return pagesHeld === undefined && untilMs > pagesFromMs + MINUTE_MS ? { pagesFromMs: untilMs } : undefined;
}

/**
 * Informs the requester, once, of the delay by limits or of the failure, and returns whether it did. For a weekly digest
 * sent by hand, only in the conversation of the request.
 */
async function reportWait(run: EditionRun, figures: FiguresRun, context: JobContext): Promise<boolean> {
  const { kind, sentBy, sinceMs, owner } = run;
  const { limitedUntilMs = 0 } = figures;
  const isWeekly = kind === 'weekly';
  if (run.waitReported || (isWeekly && sentBy === undefined)) return false;
  const isStuck = isWeekly && isPersistent(figures);
  if (!isStuck && limitedUntilMs - context.now() < MIN_REPORTED_MS) return false;
  const message = isStuck ? stuckReply(run, causeOf(figures)) : waitsMessage(run, limitedUntilMs);
  if (sentBy === undefined)
    return (await reportPrivately(run, { name: 'wait', userId: owner.id, message }, context)) === 0;
  await postWhereAsked(run, `wait ${sinceMs}`, message, context, sentBy);
  return true;
}

/** Number of weeks in a trend, including the digest's own. In fewer weeks than `MIN_WEEKS` a lowest one means nothing. */
const MAX_WEEKS = 8;
const MIN_WEEKS = 4;

/** Returns the totals of the range before, if they are known. */
const totalsBeforeOf = (before: FiguresRun | undefined): Pick<EditionRun, 'totalsBefore'> =>
  before !== undefined && hasTotals(before)
    ? { totalsBefore: addCounts(before.spans.flatMap(({ counts }) => counts ?? [])) }
    : {};

/** Returns the digest with all collected figures. */
async function complete(
  run: EditionRun,
  figures: FiguresRun | undefined,
  before: FiguresRun | undefined,
  context: JobContext,
): Promise<EditionRun> {
  const { all, ...listed } = await loadPages(run, figures, before, context);
  const readers = run.sections.includes('readers') ? readersOf(figures, before) : undefined;
  const hasCsv = listed.pages !== undefined && run.sections.includes('csv') && !run.inDirectMessage;
  return {
    ...run,
    state: 'completing',
    sinceMs: context.now(),
    ...listed,
    ...totalsBeforeOf(before),
    pagesFromMs: undefined,
    pagesHeld: undefined,
    ...(readers && { readers }),
    followUps: addNumbers(run.followUps, all, readers),
    csv: run.csv ?? (hasCsv ? { state: 'open', failures: 0, checks: 0, attempt: 1 } : undefined),
  };
}

/** Returns all pages and their figures, or why there are none. */
async function loadPages(
  run: EditionRun,
  figures: FiguresRun | undefined,
  before: FiguresRun | undefined,
  { figures: stored }: JobContext,
): Promise<Pick<EditionRun, 'pages' | 'noPages'> & { all?: PageChange[] }> {
  if (figures?.pages === undefined) return {};
  const { state } = figures.pages;
  if (state !== 'complete') return { noPages: state === 'tooMany' ? state : 'failed' };
  const all = await comparePages(
    stored.pages(run, rangeKey(run.range)),
    before?.pages?.state === 'complete' ? stored.pages(run, rangeKey(weekBefore(run.range))) : [],
  );
  const hasViews = run.totals !== undefined && totalOf(run.totals) > 0;
  if (hasViews && all.every((page) => totalOf(page) === 0)) return { noPages: 'failed' };
  // Without any earlier pages everything would look new, unless nothing was read then.
  const { totalsBefore } = totalsBeforeOf(before);
  const hadNone = totalsBefore !== undefined && totalOf(totalsBefore) === 0;
  const isCompared = hadNone || all.some((page) => totalOf(page.before) > 0);
  return { all, pages: pageFiguresOf(all, isCompared) };
}

/** The readers' figures, compared with the range before. */
function readersOf(figures: FiguresRun | undefined, before: FiguresRun | undefined): ReaderFigures {
  const { questions, visitors, ...now } = figures?.readers?.figures ?? {};
  const earlier = before?.readers?.figures;
  return {
    ...now,
    ...(questions && { questions: { ...questions, before: earlier?.questions } }),
    ...(visitors && { visitors: { ...visitors, before: earlier?.visitors?.total } }),
  };
}

/** Returns how a week's views compare with those of earlier weeks; `views` begins with its own, latest first. */
export function trendOf(views: readonly number[]): EditionRun['trend'] {
  const [now = 0, ...before] = views;
  const [last] = before;
  if (last === undefined || now === last) return undefined;
  const way = now > last ? 'rise' : 'fall';
  const inARow = views.findIndex((one, index) => {
    const earlier = views[index + 1];
    return earlier === undefined || (way === 'rise' ? one <= earlier : one >= earlier);
  });
  const isLowest = now < Math.min(...before);
  const isExtreme = views.length >= MIN_WEEKS && (isLowest || now > Math.max(...before));
  return {
    weeks: views.length,
    ...(isExtreme && { extreme: isLowest ? ('lowest' as const) : ('highest' as const) }),
    way,
    inARow,
  };
}

/** Returns the same for a weekly digest, from the stored days. */
async function loadTrend(run: EditionRun, { figures }: JobContext): Promise<EditionRun['trend']> {
  if (run.kind === 'asked' || run.week === undefined) return undefined;
  const views: number[] = [];
  for (let { range } = run; views.length < MAX_WEEKS; range = weekBefore(range)) {
    const days = daysOf(range);
    const stored = await figures.days(run, days);
    if (stored.size < days.length) break;
    views.push(totalOf(addCounts([...stored.values()])));
  }
  return trendOf(views);
}

type FollowUp = EditionRun['followUps'][number];

/** Returns the agent's results for the requests under the previous digest. The present numbers come with the pages. */
export async function loadFollowUps(run: EditionRun, { runs, figures }: JobContext): Promise<FollowUp[]> {
  if (run.lastWeek === undefined) return [];
  const last = weeklyId(run, run.lastWeek);
  return (await runs.loadAll(await figures.asks(last), threadRun))
    .flatMap((thread) => thread.instructions.map((one) => ({ ...one, ending: askEnding(thread, one) })))
    .toSorted((one, other) => one.atMs - other.atMs)
    .flatMap(({ origin, ending }) => {
      const isListed = origin?.digest === last && ending?.kind !== 'notSent';
      return isListed ? [toFollowUp(origin, ending)] : [];
    });
}

function toFollowUp({ subject }: DigestOrigin, ending: AskEnding | undefined): FollowUp {
  const { kind } = ending ?? {};
  const hasResult = kind === 'newPr' || kind === 'samePr' || kind === 'noPr';
  return {
    subject: subject.name,
    kind: subject.kind,
    ...(ending !== undefined && 'prLink' in ending && { prLink: ending.prLink }),
    before: subject.value,
    ...(!hasResult && { without: kind === 'failed' || kind === 'archived' ? kind : 'unknown' }),
  };
}

/**
 * Returns them with the present numbers; an entry missing from a complete list has 0. For searches, only those without
 * a click are known.
 */
export function addNumbers(
  followUps: readonly FollowUp[],
  pages: readonly PageChange[] | undefined,
  readers: ReaderFigures = {},
): FollowUp[] {
  const { thumbs, searches, questions } = readers;
  const numberOf = ({ kind, subject }: FollowUp): FollowUp['after'] => {
    switch (kind) {
      case 'page': {
        const found = pages?.find(({ path }) => path === subject);
        return found ? totalOf(found) : pages && 0;
      }
      case 'thumbs': {
        const isComplete = thumbs !== undefined && thumbs.length < FEEDBACK_LIMIT;
        return thumbs?.find(({ path }) => path === subject)?.down ?? (isComplete ? 0 : undefined);
      }
      case 'questions':
        return questions?.unanswered;
      case 'search':
        return searches && (searches.find(({ query }) => query === subject)?.hits ?? 'unlisted');
    }
  };
  return followUps.map((one) => ({ ...one, after: numberOf(one) }));
}
