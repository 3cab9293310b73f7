import { isDeepStrictEqual } from 'node:util';
import type { DocsApiError } from '../../docs-api/errors.ts';
import type { ExportJob, StartedExport } from '../../docs-api/operations.ts';
import { Later, wait } from '../../runtime/later.ts';
import { fillLinks } from '../../slack/blocks.ts';
import { lacksScope, SlackApiError } from '../../slack/errors.ts';
import { isDirectMessage } from '../../slack/ids.ts';
import { stateOf, updateId, updateRun } from '../deployment/record.ts';
import type { JobContext } from '../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../engine/job.ts';
import { isUnknownJob, slackRetryMs } from '../engine/polling.ts';
import { type Sent, sent } from '../engine/send-event.ts';
import { awaitTime, permitted } from '../engine/waits.ts';
import { exportScheduleEvents } from '../export-schedule/record.ts';
import { definePoll, pollLater, retryAt } from '../operation/poll.ts';
import { defineStart, nextTry, refusalOf } from '../operation/start.ts';
import { awaitCard, deliveryCheckMs } from '../shared/place.ts';
import { postWhereAsked, reportPrivately } from '../shared/report.ts';
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
  postingCard: postCard,
  starting: startExport,
  watching: (run, context) => exports.poll(run, context),
  bundling: createDownloadLink,
  unknown: (run, context) => starts.awaitAnswer(run, context),
  ended: handleEnded,
};

/** A step waits for the platform most of the time, and thousands may be due within seconds. */
const CONCURRENCY = 100;

const defineExportJob = (name: ExportRun['job'], releasesClaim: (run: ExportRun) => boolean) =>
  defineRunJob({
    name,
    queue: 'docs-export',
    concurrency: CONCURRENCY,
    schema: exportRun,
    messages: exportMessages,
    needs: exportNeeds.of,
    releasesClaim,
    sends,
    auditLine: (run) => ({
      user: run.by,
      channel: run.asked.channel,
      what: run.job,
      subject: site(run),
      job: run.jobId,
    }),
    step: (run, context) => steps[run.state](run, context),
    // An error after the ending is not shown: the person already knows the ending.
    giveUp: async (run, context, ref) =>
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

/** Its schedule looks at it when it has ended. */
function sends({ id, state, schedule, sinceMs }: ExportRun): Sent[] {
  if (state !== 'ended' || schedule === undefined) return [];
  return [sent(exportScheduleEvents, schedule, `${id} ${sinceMs}`)];
}

/** Makes the run findable by its job id, if that is known. */
async function nameJob({ id, teamId, project, jobId }: ExportRun, { store: { runs } }: JobContext) {
  if (jobId !== undefined) await runs.alias(jobAlias(teamId, project, jobId), id);
}

async function acceptExport(run: ExportRun, context: JobContext): Result {
  // A job that a person named is looked up before anything about it is public.
  const named = run.joined && (await exports.once({ ...run, pollRequested: true }, context));
  if (named && isUnknownJob(named)) return end(run, { kind: 'lost' }, context);
  await nameJob(run, context);
  return save(advance(run, { state: 'postingCard' }, context.now()), { audit: 'accepted' });
}

async function postCard(run: ExportRun, context: JobContext): Result {
  const card = await awaitCard(run, cardKey(run), context);
  if (card.kind === 'elsewhere') return save({ ...run, inDirectMessage: true });
  if (card.kind === 'refused') return end(run, { kind: 'noPlace', code: card.code }, context);
  return save(advance(run, { state: run.joined ? 'watching' : 'starting' }, context.now()));
}

/** Starts the export at the platform, once. */
async function startExport(run: ExportRun, context: JobContext): Result {
  awaitTime(run.nextPollAtMs, context);
  return starts.start(run, context);
}

const starts = defineStart<ExportRun, StartedExport>({
  limitMs: ({ timing }) => timing.docsCallMs,

  async prepare({ by, project, domain, version, paths }, context) {
    const docs = context.platform.docs(project);
    const permission = await permitted(by.id, 'export', context);
    if (docs === undefined) return { why: 'project' };
    if (permission.kind === 'refused') return { why: 'permission', contacts: permission.contacts };
    return (isTooLate) => docs.startExport({ domain, version, paths }, { isTooLate });
  },

  /** Makes the run findable by its job id, and watches the job. */
  async started(run, job, context) {
    const { now, timing } = context;
    const started = advance(run, { state: 'watching', jobId: job.jobId, startedAtMs: now() }, now());
    await nameJob(started, context);
    return pollLater(applyPoll(started, job, now(), timing.stalledAfterMs), context);
  },

  unclear(run, err, { log, now }) {
    log.warn({ run: run.id, err }, 'export start: outcome unknown');
    return advance(run, { state: 'unknown' }, now());
  },

  notAllowed: (run, no, context) =>
    no.why === 'project'
      ? end(run, { kind: 'notStarted', why: 'project' }, context)
      : end(
          run,
          { kind: 'notStarted', why: 'permission', reason: no.contacts },
          context,
          'refused: not permitted',
        ),

  async refused(run, error, context) {
    const { timing, log } = context;
    const failure = nextTry(run, error, { ...timing, troubleMs: timing.exportStartMs }, context);
    if (failure) return retryAt(run, failure, context);
    log.info({ run: run.id, isStart: true, err: error }, 'the platform refused a call of an export');
    return end(
      run,
      { kind: 'notStarted', ...(await refusalOf(run, error as DocsApiError, context)) },
      context,
    );
  },
});

const exports = definePoll<ExportRun, ExportJob>({
  kind: 'export-status',
  get: ({ jobId = '' }, docs, signal) => docs.getExport({ jobId }, { signal }),
  lost: (run, context) => end(run, { kind: 'lost' }, context),
  gaveUp: (run, afterMs, context) => end(run, { kind: 'gaveUp', afterMs }, context),

  async seen(run, job, context) {
    const atMs = context.now();
    if (isUnconfirmedJobId(run)) await nameJob(run, context);
    const next = applyPoll(run, job, atMs, context.timing.stalledAfterMs);
    // If a job had ended before its first poll, only the platform knows when.
    const isFirst = run.polls === 0 && (run.joined || run.answer?.action === 'watchIt');
    const completedAtMs = isFirst ? job.updatedAt : atMs;
    if (job.status === 'completed') return save(advance(next, { state: 'bundling', completedAtMs }, atMs));
    if (job.status === 'failed')
      return end({ ...next, completedAtMs }, { kind: 'failed', reason: job.error }, context);
    return pollLater(next, context);
  },

  failed(run, error, isLost, context) {
    // An id that a person entered may be impossible to request.
    const isUnusable = error?.kind === 'bad_request' && error.happened === 'no';
    if (!isUnusable && !isLost) return undefined;
    if (isUnconfirmedJobId(run)) {
      // The platform does not know the entered job, so the start is unknown again.
      const reopened = { ...noJob, state: 'unknown' as const, unknownJobId: run.jobId, answer: undefined };
      return save(advance(run, reopened, context.now()), { audit: 'job not found, start unclear' });
    }
    if (isLost) return undefined;
    // A refused request says nothing of the job.
    return end(run, { kind: 'gaveUp', afterMs: context.now() - run.sinceMs }, context);
  },
});

/** Whether a person entered the job id and no poll has confirmed it yet. */
const isUnconfirmedJobId = ({ answer, attempt, polls }: ExportRun) =>
  answer?.action === 'watchIt' && answer.attempt === attempt && polls === 0;

/** A link without a known expiry is forgotten after this time. */
const DEFAULT_LINK_TTL_MS = 3_600_000;

/** Requests a download link for the completed export. */
async function createDownloadLink(run: ExportRun, context: JobContext): Result {
  const { store, stopping, now, timing, log } = context;
  awaitTime(run.nextPollAtMs, context);
  if (run.job === 'link' && (await permitted(run.by.id, 'export', context)).kind === 'refused')
    return end(run, { kind: 'noLink' }, context, 'refused: not permitted');
  const docs = context.platform.docs(run.project);
  if (docs === undefined) return end(run, { kind: 'noLink', why: 'project' }, context);
  const privately = run.alone ?? (await isForRequesterAlone(run, context));
  const link = `${run.id}.${run.attempt}.${run.resumed}.${run.relinked}`;
  try {
    const bundle = await docs.createBundle({ jobId: run.jobId ?? '' }, { signal: stopping });
    const { bundleUrl, expiresAt: linkEndsAtMs, sizeBytes } = bundle;
    await store.links.put(link, bundleUrl, linkEndsAtMs ?? now() + DEFAULT_LINK_TTL_MS);
    const deployments = await deploymentsOf(run, context);
    return end({ ...run, deployments }, { kind: 'done', link, linkEndsAtMs, sizeBytes, privately }, context);
  } catch (error) {
    const decided = { ...run, alone: privately };
    // Right after completion, the platform may still report the job as incomplete.
    const failure = nextTry(decided, error, { ...timing, also: 'conflict' }, context);
    if (failure) return retryAt(decided, failure, context);
    log.info({ run: run.id, isStart: false, err: error }, 'the platform refused a call of an export');
    const { why, reason, adminsAlerted } = await refusalOf(run, error as DocsApiError, context);
    const ending = why === 'key' ? { why, adminsAlerted } : { reason };
    return end(decided, { kind: 'noLink', ...ending }, context);
  }
}

/** Returns the deployments that the message offers to update. If the requester may not, or Slack does not answer: none. */
async function deploymentsOf(
  { job, project, by }: ExportRun,
  { policy, settings: { projects } }: JobContext,
) {
  const names = projects.find(({ name }) => name === project)?.deployments?.map(({ name }) => name);
  if (names === undefined || job === 'link') return undefined;
  return (await policy.check(by.id, 'deploy')).kind === 'allowed' ? names : undefined;
}

/**
 * Returns whether only the requester gets the link: by the request, or because people of other organizations read the
 * thread. If the channel cannot be looked up for long, only the requester gets it. Throws `Later` until then.
 */
async function isForRequesterAlone(run: ExportRun, context: JobContext): Promise<boolean> {
  const { slack, timing, now, log } = context;
  if (run.job === 'link') return true;
  // A direct message that takes the bot's card is between the requester and the bot.
  const isDirect = run.inDirectMessage || isDirectMessage(run.asked.channel);
  if (isDirect || run.privately) return !isDirect;
  try {
    return (await slack.channel(run.asked.channel)).shared;
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    const waitMs = lacksScope(error) ? undefined : slackRetryMs(error, context);
    if (waitMs !== undefined && now() + waitMs <= run.sinceMs + timing.giveUpMs) throw new Later(waitMs);
    log.warn({ run: run.id, err: error }, 'the channel could not be looked up; it counts as shared');
    return true;
  }
}

/** Returns the run with the present states of its deployments; undefined if it has them already. */
async function followUpdates(
  run: ExportRun,
  { settings: { projects }, store: { runs } }: JobContext,
): Promise<ExportRun | undefined> {
  const { deployments = [] } = projects.find(({ name }) => name === run.project) ?? {};
  const known = run.updates?.map(({ id }) => id) ?? [];
  // The settings may have lost one since.
  const ids = [...new Set([...deployments.map(({ name }) => updateId(run, name)), ...known])];
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
  // A schedule's message shows the result.
  if (schedule === undefined && (ending?.kind === 'noPlace' || isRetracted(run))) {
    const [name, userId] = [`refused.${run.attempt}`, run.by.id];
    await reportPrivately(run, { name, userId, message: retractedMessage(run) }, context);
  }
  // Later steps only wait until the link expires, perhaps for days.
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
  const url = await context.store.links.get(done.link);
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
