import { isDeepStrictEqual } from 'node:util';
import { DocsApiError } from '../../docs-api/errors.ts';
import type { StartedExport } from '../../docs-api/operations.ts';
import { fillLinks } from '../../slack/blocks.ts';
import { lacksScope, SlackApiError } from '../../slack/errors.ts';
import { stateOf, updateId, updateRun } from '../deployment/record.ts';
import type { JobContext } from '../engine/context.ts';
import { defineRunJob, idle, idleWithClaim, type StepResult, save, wait } from '../engine/job.ts';
import {
  isUnknownJob,
  lookupRetryMs,
  nextFailure,
  nextPollMs,
  type PollFailure,
  pollJob,
  slackRetryMs,
} from '../engine/polling.ts';
import { deliveryCheckMs, loadCardState, postWhereAsked, reportPrivately } from '../shared/report.ts';
import { exportNeeds } from './feature.ts';
import { site } from './progress-view.ts';
import {
  advance,
  applyPoll,
  type DoneEnding,
  type Ending,
  type ExportRun,
  endRun,
  exportRun,
  isRetracted,
  jobAlias,
  noJob,
} from './record.ts';
import { cardKey, exportMessages, privateKey, refusedLinkMessage, retractedMessage } from './view.ts';

type Result = Promise<StepResult<ExportRun>>;

/** What the next step of a run does, by its state. */
const steps: Record<ExportRun['state'], (run: ExportRun, context: JobContext) => Result> = {
  accepted: acceptExport,
  postingCard: awaitCard,
  starting: startExport,
  watching: pollExportJob,
  bundling: createDownloadLink,
  unknown: awaitAnswer,
  ended: handleEnded,
};

/** A step waits for the platform most of the time, and thousands may be due within seconds. */
const CONCURRENCY = 100;

const defineExportJob = (name: ExportRun['job'], hasEnded: (run: ExportRun) => boolean) =>
  defineRunJob({
    name,
    queue: 'docs-export',
    concurrency: CONCURRENCY,
    schema: exportRun,
    messages: exportMessages,
    needs: exportNeeds.of,
    hasEnded,
    auditLine: (run) => ({
      user: run.requester,
      channel: run.asked.channel,
      what: run.job,
      subject: site(run),
      job: run.jobId,
    }),
    step: ({ run }, context) => steps[run.state](run, context),
    // An error after the ending is not shown: the person already knows the ending.
    giveUp: async ({ run }, context, ref) =>
      run.state === 'ended' ? idle : end(run, { kind: 'broken', ref }, context),
  });

/** Takes one static export from the accepted request to its ending. */
export const exportJob = defineExportJob('export', ({ state }) => state === 'ended');

/** Makes one person's own link. While the link works, a repeated request finds it by its claim. */
export const linkJob = defineExportJob(
  'link',
  ({ state, ending }) => state === 'ended' && (ending?.kind !== 'done' || ending.refusal !== undefined),
);

const end = (run: ExportRun, ending: Ending, { now }: JobContext, audit = `ended: ${ending.kind}`) =>
  save(endRun(run, ending, now()), { audit });

/** Saves a failure, after which the step is retried. */
const retryAfter = (run: ExportRun, failure: PollFailure, { now }: JobContext) =>
  save({ ...run, pollFailure: failure, nextPollAtMs: failure.nextMs }, { inMs: failure.nextMs - now() });

/** Makes the run findable by its job id, if that is known. */
async function nameJob({ id, teamId, project, jobId }: ExportRun, { runs }: JobContext) {
  if (jobId !== undefined) await runs.alias(jobAlias(teamId, project, jobId), id);
}

async function acceptExport(run: ExportRun, context: JobContext): Result {
  // A job that a person named is looked up before anything about it is public.
  const named = run.joined && (await poll({ ...run, pollRequested: true }, context));
  if (named && 'inMs' in named) return wait(named.inMs);
  if (named && isUnknownJob(named)) return end(run, { kind: 'lost' }, context);
  await nameJob(run, context);
  return save(advance(run, { state: 'postingCard' }, context.now()), { audit: 'accepted' });
}

const poll = (run: ExportRun, context: JobContext) =>
  pollJob(
    run,
    'export-status',
    context.docs(run.project),
    (docs) => docs.getExport({ jobId: run.jobId ?? '' }, { signal: context.stopping }),
    context,
  );

async function awaitCard(run: ExportRun, context: JobContext): Result {
  const card = await loadCardState(run, cardKey(run), context);
  switch (card.kind) {
    case 'waiting':
      return wait(card.inMs);
    case 'elsewhere':
      return save({ ...run, inDirectMessage: true });
    case 'refused':
      return end(run, { kind: 'noPlace', code: card.code }, context);
    case 'shown':
      return save(advance(run, { state: run.joined ? 'watching' : 'starting' }, context.now()));
  }
}

/** Starts the export at the platform, once. */
async function startExport(run: ExportRun, context: JobContext): Result {
  const { now, policy, timing } = context;
  if (now() < run.nextPollAtMs) return wait(run.nextPollAtMs - now());
  const { answer, domain, version, paths } = run;
  // A person chose to start again, but the first start's answer has come: it did start.
  const isAgain = answer?.action === 'startAgain' && answer.attempt === run.attempt - 1;
  const late = isAgain ? await beginLateWatch(run, answer.attempt, context) : undefined;
  if (late !== undefined) return late;
  // The project or the permission may be lost since the request. A start from before is still found.
  const docs = context.docs(run.project);
  const permission = await policy.check(run.requester.id, 'export');
  if (permission.kind === 'unknown') return wait(lookupRetryMs(context));
  const outcome = await context.callOnce(run, startStep(run), timing.docsCallMs, async (isTooLate) => {
    if (docs === undefined || permission.kind === 'refused')
      throw new DocsApiError('startExport', 'bad_request', { happened: 'no', what: 'not permitted' });
    return docs.startExport({ domain, version, paths }, { isTooLate });
  });
  switch (outcome.kind) {
    case 'done':
      return beginWatch(run, outcome.value, context);
    case 'inFlight':
      return wait(outcome.forMs);
    case 'unknown':
      context.log.warn({ run: run.id, err: outcome.error }, 'export start: outcome unknown');
      return save(advance(run, { state: 'unknown' }, now()), { audit: 'start unclear' });
    case 'notHappened': {
      if (docs === undefined) return end(run, { kind: 'notStarted', why: 'project' }, context);
      if (permission.kind === 'allowed') return handleFailure(run, outcome.error, context);
      const ending: Ending = { kind: 'notStarted', why: 'permission', reason: permission.contacts };
      return end(run, ending, context, 'refused: not permitted');
    }
  }
}

/** Returns the name of the step that starts the present attempt. */
export const startStep = ({ attempt }: Pick<ExportRun, 'attempt'>) => `start.${attempt}`;

type NotStarted = Extract<Ending, { kind: 'notStarted' }>;

export const NOT_STARTED_REASONS: Partial<
  Record<DocsApiError['kind'], Exclude<NotStarted['why'], 'permission'>>
> = {
  bad_request: 'domain',
  forbidden: 'plan',
  key_rejected: 'key',
  rate_limited: 'limit',
  refused: 'down',
  server: 'down',
};

/** A call did not succeed: saves when it is tried again, or ends the run. */
async function handleFailure(run: ExportRun, error: unknown, context: JobContext): Result {
  if (!(error instanceof DocsApiError)) throw error;
  const { kind, platformMessage: reason, retryAfterMs } = error;
  if (kind === 'aborted') return wait(0);
  const { timing, log } = context;
  const isStart = run.state === 'starting';
  const failure = nextFailure(run.pollFailure, error, context);
  // Right after completion, the platform may still report the job as incomplete.
  const isRetryable = error.retryable || (kind === 'conflict' && !isStart);
  // The thread says until when a start is tried while the platform has trouble. A failure of another kind keeps to that.
  const hasTrouble = isStart && kind === 'server';
  const untilMs = hasTrouble ? run.sinceMs + timing.exportStartMs : run.pollFailure?.untilMs;
  const patienceMs = retryAfterMs === undefined ? timing.giveUpMs : timing.limitWaitMs;
  const lastMs = Math.max(untilMs ?? 0, hasTrouble ? 0 : run.sinceMs + patienceMs);
  if (isRetryable && failure.nextMs <= lastMs) return retryAfter(run, { ...failure, untilMs }, context);
  log.info({ run: run.id, isStart, err: error }, 'the platform refused a call of an export');
  const needsOperator = kind === 'key_rejected' || kind === 'forbidden';
  const adminsAlerted = needsOperator && (await context.alertAdmins(run.teamId, run.project, error));
  const why = NOT_STARTED_REASONS[kind] ?? 'other';
  if (isStart) return end(run, { kind: 'notStarted', why, reason, adminsAlerted }, context);
  if (kind === 'key_rejected') return end(run, { kind: 'noLink', why: 'key', adminsAlerted }, context);
  return end(run, { kind: 'noLink', reason }, context);
}

/** The platform has answered: makes the run findable by its job id, and watches the job. */
async function beginWatch(run: ExportRun, job: StartedExport, context: JobContext) {
  const nowMs = context.now();
  const started = advance(run, { state: 'watching', jobId: job.jobId, startedAtMs: nowMs }, nowMs);
  await nameJob(started, context);
  return pollLater(applyPoll(started, job, nowMs, context.timing.stalledAfterMs), nowMs, context);
}

/** If the platform has answered the start of that attempt, watches the export; else returns undefined. */
async function beginLateWatch(run: ExportRun, attempt: number, context: JobContext) {
  const late = await context.callResult(run.id, startStep({ attempt }));
  const answer = { attempt, by: '', byId: '', action: 'late' as const };
  return late && beginWatch({ ...run, answer }, late.result as StartedExport, context);
}

/** Waits until a person answers the question, or the platform's late answer arrives, which wakes the run. */
async function awaitAnswer(run: ExportRun, context: JobContext): Result {
  return (await beginLateWatch(run, run.attempt, context)) ?? idleWithClaim;
}

/** Consecutive "not found" answers before a job counts as lost: a new job may not be known everywhere at once. */
const LOST_AFTER = 3;

/** Polls the export job when the poll is due and a slot is free. */
async function pollExportJob(run: ExportRun, context: JobContext): Result {
  const { timing, now } = context;
  // The watch ends this long after it began, even if polls failed.
  const endsAtMs = run.sinceMs + timing.watchMs;
  const gaveUp = { kind: 'gaveUp' as const, afterMs: now() - run.sinceMs };
  if (now() >= endsAtMs) return end(run, gaveUp, context);
  const polled = await poll(run, context);
  if ('inMs' in polled) return wait(polled.inMs);
  if ('failure' in polled) {
    const { failure, error } = polled;
    // An id that a person entered may be impossible to request.
    const isUnusable = error?.kind === 'bad_request' && error.happened === 'no';
    const isLost = failure.kind === 'lost' && failure.inARow >= LOST_AFTER;
    if (!isUnusable && !isLost)
      return retryAfter(run, { ...failure, nextMs: Math.min(failure.nextMs, endsAtMs) }, context);
    if (isUnconfirmedJobId(run)) {
      // The platform does not know the entered job, so the start is unknown again.
      const reopened = { ...noJob, state: 'unknown' as const, unknownJobId: run.jobId, answer: undefined };
      return save(advance(run, reopened, now()), { audit: 'job not found, start unclear' });
    }
    // A refused request says nothing of the job.
    return end(run, isLost ? { kind: 'lost' } : gaveUp, context);
  }
  const { job } = polled;
  const atMs = now();
  if (isUnconfirmedJobId(run)) await nameJob(run, context);
  const next = applyPoll(run, job, atMs, timing.stalledAfterMs);
  // If a job had ended before its first poll, only the platform knows when.
  const isFirst = run.polls === 0 && (run.joined || run.answer?.action === 'watchIt');
  const completedAtMs = isFirst ? job.updatedAt : atMs;
  if (job.status === 'completed') return save(advance(next, { state: 'bundling', completedAtMs }, atMs));
  if (job.status === 'failed')
    return end({ ...next, completedAtMs }, { kind: 'failed', reason: job.error }, context);
  return pollLater(next, atMs, context);
}

/** Whether a person entered the job id and no poll has confirmed it yet. */
const isUnconfirmedJobId = ({ answer, attempt, polls }: ExportRun) =>
  answer?.action === 'watchIt' && answer.attempt === attempt && polls === 0;

/** Plans the next poll of a running job. */
function pollLater(run: ExportRun, atMs: number, { timing, random }: JobContext) {
  const { startedAtMs = run.sinceMs } = run;
  const inMs = nextPollMs({ ...run, startedAtMs }, atMs, timing, random());
  return save({ ...run, nextPollAtMs: atMs + inMs }, { inMs });
}

/** A link without a known expiry is forgotten after this time. */
const DEFAULT_LINK_TTL_MS = 3_600_000;

/** Requests a download link for the completed export. */
async function createDownloadLink(run: ExportRun, context: JobContext): Result {
  const { links, policy, stopping, now } = context;
  if (now() < run.nextPollAtMs) return wait(run.nextPollAtMs - now());
  if (run.job === 'link') {
    const { kind } = await policy.check(run.requester.id, 'export');
    if (kind === 'unknown') return wait(lookupRetryMs(context));
    if (kind === 'refused') return end(run, { kind: 'noLink' }, context, 'refused: not permitted');
  }
  const docs = context.docs(run.project);
  if (docs === undefined) return end(run, { kind: 'noLink', why: 'project' }, context);
  const privately = run.alone ?? (await isForRequesterAlone(run, context));
  if (typeof privately === 'number') return wait(privately);
  const link = `${run.id}.${run.attempt}.${run.resumed}.${run.relinked}`;
  try {
    const bundle = await docs.createBundle({ jobId: run.jobId ?? '' }, { signal: stopping });
    const { bundleUrl, expiresAt: linkEndsAtMs, sizeBytes } = bundle;
    await links.put(link, bundleUrl, linkEndsAtMs ?? now() + DEFAULT_LINK_TTL_MS);
    const deployments = await deploymentsOf(run, context);
    return end({ ...run, deployments }, { kind: 'done', link, linkEndsAtMs, sizeBytes, privately }, context);
  } catch (error) {
    return handleFailure({ ...run, alone: privately }, error, context);
  }
}

/** Returns the deployments that the message offers to update. If the requester may not, or Slack does not answer: none. */
async function deploymentsOf({ job, project, requester }: ExportRun, { projects, policy }: JobContext) {
  const names = projects.find(({ name }) => name === project)?.deployments?.map(({ name }) => name);
  if (names === undefined || job === 'link') return undefined;
  return (await policy.check(requester.id, 'deploy')).kind === 'allowed' ? names : undefined;
}

/**
 * Returns whether only the requester gets the link: by the request, or because people of other organizations read the
 * thread; else the milliseconds until the next look-up. If a channel cannot be looked up for long, only the requester
 * gets it.
 */
async function isForRequesterAlone(run: ExportRun, context: JobContext): Promise<boolean | number> {
  const { slack, timing, now, log } = context;
  if (run.job === 'link') return true;
  // A direct message that takes the bot's card is between the requester and the bot.
  const isDirectMessage = run.inDirectMessage || run.asked.channel.startsWith('D');
  if (isDirectMessage || run.privately) return !isDirectMessage;
  try {
    return (await slack.channel(run.asked.channel)).shared;
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    const waitMs = lacksScope(error) ? undefined : slackRetryMs(error, context);
    if (waitMs !== undefined && now() + waitMs <= run.sinceMs + timing.giveUpMs) return waitMs;
    log.warn({ run: run.id, err: error }, 'the channel could not be looked up; it counts as shared');
    return true;
  }
}

/** For this long after its end, an export wakes its schedule. The schedule also checks by itself. */
const WAKE_MS = 60_000;

/** Returns the run with the present states of its deployments; undefined if it has them already. */
async function followUpdates(run: ExportRun, { projects, runs }: JobContext): Promise<ExportRun | undefined> {
  const { deployments = [] } = projects.find(({ name }) => name === run.project) ?? {};
  const ids = deployments.map(({ name }) => updateId(run, name));
  const isExported = run.job === 'export' && run.ending?.kind === 'done';
  const found = isExported ? await runs.loadAll(ids, updateRun) : [];
  const updates = found.map(stateOf);
  return found.length === 0 || isDeepStrictEqual(updates, run.updates) ? undefined : { ...run, updates };
}

/** Answers the requester privately if no message stays, and waits until the links expire. */
async function handleEnded(run: ExportRun, context: JobContext): Result {
  const { ending, earlier, schedule } = run;
  const followed = await followUpdates(run, context);
  if (followed) return save(followed);
  // The schedule's message shows the result. Later steps only wait until the link expires, perhaps for days.
  if (schedule !== undefined) {
    if (context.now() - run.sinceMs < WAKE_MS) {
      await context.runs.markDue('export-schedule', schedule);
      await context.wake({ job: 'export-schedule', id: schedule });
    }
  } else if (ending?.kind === 'noPlace' || isRetracted(run)) {
    const [name, userId] = [`refused.${run.attempt}`, run.requester.id];
    const report = { name, userId, message: retractedMessage(run) };
    const inMs = await reportPrivately(run, report, context);
    if (inMs > 0) return wait(inMs);
  }
  const latest = ending?.kind === 'done' ? ending : undefined;
  if (run.job === 'link' && latest?.refusal !== undefined) return postLinkEphemeral(run, latest, context);
  const waits = [latest, earlier?.ending].flatMap((one) =>
    one && !one.expired ? [(one.linkEndsAtMs ?? Infinity) - context.now()] : [],
  );
  if (latest?.privately && !latest.expired && latest.refusal === undefined) {
    const delivery = await context.outbox.deliveryState(privateKey(run, run.resumed));
    if (delivery.kind === 'refused') return save({ ...run, ending: { ...latest, refusal: delivery.code } });
    // The thread says that the link was sent. If delivery fails, that has to be corrected soon.
    if (delivery.kind === 'waiting') waits.push(deliveryCheckMs(run, context));
  }
  const leftMs = Math.min(...waits);
  if (leftMs <= 0) return save(markExpiredLinks(run, context.now()));
  return leftMs < Infinity ? wait(leftMs) : idle;
}

/** If Slack takes no direct message, posts a person's own link as an ephemeral to the click, while that is possible. */
async function postLinkEphemeral(run: ExportRun, done: DoneEnding, context: JobContext) {
  const url = await context.links.get(done.link);
  const message = await fillLinks(refusedLinkMessage(run, done), async () => url);
  if (url !== undefined) await postWhereAsked(run, `refused.${run.relinked}`, message, context);
  return idle;
}

/** Returns the run with its expired links marked. */
function markExpiredLinks(run: ExportRun, nowMs: number): ExportRun {
  const { ending, earlier } = run;
  const markExpired = (one: DoneEnding) =>
    (one.linkEndsAtMs ?? Infinity) <= nowMs ? { ...one, expired: true } : one;
  return {
    ...run,
    ...(ending?.kind === 'done' && { ending: markExpired(ending) }),
    ...(earlier && { earlier: { ...earlier, ending: markExpired(earlier.ending) } }),
  };
}
