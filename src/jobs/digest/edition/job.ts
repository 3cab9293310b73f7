import { isDeepStrictEqual } from 'node:util';
import { digestRateLimit } from '../../../slack/rate-limits.ts';
import { deliveryCheckMs, postWhereAsked, reportPrivately } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../../run-job.ts';
import { causeOf, collectFigures, type FiguresRun, figuresRun, hasTotals } from '../figures/record.ts';
import { addCounts, isRefusal } from '../model.ts';
import { complete, loadFollowUps, loadTrend, totalsBeforeOf } from './content.ts';
import { stepCsv } from './files.ts';
import { type EditionRun, editionRun, figuresOf, lateNow, rootKey } from './record.ts';
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
  giveUp: async ({ run }, context, ref) =>
    run.state === 'ended' ? markIdle(run, context) : end(run, { why: 'broken', code: ref }),
});

type Ended = NonNullable<EditionRun['ended']>;

const end = (run: EditionRun, ended: Ended) =>
  saveAs({ ...run, state: 'ended' as const, ended }, { audit: ended.why === 'done' ? 'posted' : ended.why });

async function step(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const isOpen = run.state === 'collecting' || run.state === 'posted';
  if (isOpen && run.figures === undefined) return collect(run, context);
  switch (run.state) {
    case 'collecting':
      return awaitTotals(run, context);
    case 'posted':
      return (await updateRootMessage(run, context)) ?? awaitPages(run, context);
    case 'completing':
      return (
        (await updateRootMessage(run, context)) ?? (await stepCsv(run, context)) ?? end(run, { why: 'done' })
      );
    case 'ended':
      return markIdle(run, context);
  }
}

const checkMs = (run: EditionRun, context: JobContext) => deliveryCheckMs(run, context, MAX_CHECK_MS);

/** Returns the runs that collect its figures, then those of the range before. */
const loadFigures = ({ figures = [] }: EditionRun, { runs }: JobContext) =>
  Promise.all(figures.map((id) => runs.load(id, figuresRun)));

/** Has the figures collected. Those of earlier requests are used, and failed ones are collected again. */
async function collect(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const wanted = figuresOf(run, context.now());
  for (const figures of wanted) await collectFigures(figures, context);
  return saveAs({ ...run, figures: wanted.map(({ id }) => id) });
}

/** Waits for the totals. Only they must be on time; without the earlier totals there is no comparison. */
async function awaitTotals(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const { now, rateLimiter, timing, figures: kept } = context;
  const [figures, before] = await loadFigures(run, context);
  if (figures === undefined) return end(run, { why: 'platform' });
  if (!hasTotals(figures)) {
    if (figures.state === 'ended')
      return end(run, { why: figures.failed ?? 'platform', cause: figures.cause });
    // Only a person can fix this, and can then post it by hand.
    if (now() >= run.dueAtMs && lacksProject(figures, context)) return end(run, { why: 'project' });
    const stuck = stuckBy(run, figures, context);
    if (stuck !== undefined && !isDeepStrictEqual(stuck, run.stuck)) return saveAs({ ...run, stuck });
    const isNew = await reportWait(run, figures, context);
    return isNew ? saveAs({ ...run, waitReported: true }) : runAgainIn(checkMs(run, context));
  }
  // The comparison may come later. A weekly digest waits equally long for its pages, which saves an edit.
  const isDue = now() - run.dueAtMs >= timing.digestWaitMs;
  const open = [figures, before].flatMap((one) => (one && one.state !== 'ended' ? [one] : []));
  const isNear = open.every(({ limitedUntilMs = 0 }) => limitedUntilMs - run.dueAtMs < timing.digestWaitMs);
  const lacksTotals = before !== undefined && open.includes(before) && !hasTotals(before);
  const awaits = lacksTotals || (open.length > 0 && run.kind === 'weekly' && isNear);
  if (awaits && !isDue) return runAgainIn(checkMs(run, context));
  if (run.kind === 'weekly') {
    const inMs = await rateLimiter.takeSlot(digestRateLimit(run.teamId, timing), { id: run.id });
    if (inMs > 0) return runAgainIn(inMs);
  }
  const spans = figures.spans.flatMap(({ from, to, counts }) => (counts ? [{ from, to, ...counts }] : []));
  const hasChart = !(await kept.isUnsupported(chartSupportKey(run.teamId)));
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
    hasChart,
  };
  return saveAs(open.length > 0 ? posted : await complete(posted, figures, before, context));
}

/** Whether collecting found the project missing in the settings, and it is still missing. */
const lacksProject = ({ project, pollFailure }: FiguresRun, { docs, projectId }: JobContext) =>
  pollFailure?.kind === 'project' && (docs(project) === undefined || projectId(project) === undefined);

/** Checks that the first message is posted, and shows its chart. Returns undefined if nothing is to be done. */
async function updateRootMessage(
  run: EditionRun,
  context: JobContext,
): Promise<StepResult<EditionRun> | undefined> {
  const { outbox, figures, threads } = context;
  const delivery = await outbox.deliveryState(rootKey(run));
  if (delivery.kind === 'refused') return end(run, { why: 'place', code: delivery.code });
  if (delivery.kind === 'waiting') return runAgainIn(deliveryCheckMs(run, context));
  const { channel, ts: rootTs, fellBack } = delivery;
  await threads.close({ teamId: run.teamId, channel, rootTs });
  // The message is shown without its chart, so Slack refused the chart.
  if (!fellBack || !run.hasChart) return undefined;
  await figures.markUnsupported(chartSupportKey(run.teamId));
  return saveAs({ ...run, hasChart: false });
}

/** Waits for the lists of pages, which the hourly limit may delay. */
async function awaitPages(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const [figures, before] = await loadFigures(run, context);
  const isOpen = [figures, before].some((one) => one !== undefined && one.state !== 'ended');
  if (isOpen) {
    const wait = findPagesWait(run, [figures, before], context);
    const compared = run.totalsBefore === undefined ? totalsBeforeOf(before) : {};
    return wait !== undefined || compared.totalsBefore !== undefined
      ? saveAs({ ...run, ...compared, ...wait })
      : runAgainIn(checkMs(run, context));
  }
  return saveAs(await complete(run, figures, before, context));
}

/** Whether to report a failure: a transient one may pass by itself. */
const isPersistent = ({ pollFailure }: FiguresRun) =>
  pollFailure !== undefined &&
  pollFailure.kind !== 'limit' &&
  (isRefusal(pollFailure) || pollFailure.inARow >= MIN_FAILURES);

/** Returns why a digest is late, once its owner should know: at once if only a person can fix it. */
function stuckBy({ dueAtMs }: EditionRun, figures: FiguresRun, { now }: JobContext) {
  const cause = causeOf(figures);
  const isDue = cause !== undefined && now() - dueAtMs >= (isRefusal(cause) ? 0 : HOUR_MS);
  return isDue ? cause : undefined;
}

/**
 * Returns when limits allow the delayed lists of pages at the earliest; if the platform fails, or refuses again after a
 * wait, why they are delayed. Returns undefined if nothing is new.
 */
function findPagesWait(
  run: EditionRun,
  all: readonly (FiguresRun | undefined)[],
  { now }: JobContext,
): Pick<EditionRun, 'pagesFromMs' | 'pagesHeld'> | undefined {
  const { pagesFromMs = 0, pagesHeld } = run;
  const open = all.flatMap((one) => (one && one.state !== 'ended' ? [one] : []));
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
