import { lacksScope, SlackApiError } from '../../slack/errors.ts';
import { deliveryCheckMs, loadCardState, reportPrivately } from '../card.ts';
import type { JobContext } from '../context.ts';
import { runAgainIn } from '../job.ts';
import { makeBundleLink } from '../link/job.ts';
import { lookUpJob, pollRateLimit } from '../polling.ts';
import { slackRetryMs } from '../retry.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../run-job.ts';
import { exportNeeds } from './feature.ts';
import { site } from './progress-view.ts';
import {
  type DoneEnding,
  type Ending,
  type ExportRun,
  exportRun,
  isRetracted,
  jobAlias,
  jobIdOf,
} from './record.ts';
import { noPlaceMessage } from './reply-view.ts';
import { awaitAnswer, pollExportJob, startExport } from './steps.ts';
import { advance, endRun, isUnconfirmedJobId } from './transitions.ts';
import { cardKey, exportMessages, privateKey, retractedMessage } from './view.ts';

/** A step waits for the platform most of the time, and thousands may be due within seconds. */
const CONCURRENCY = 100;

/** Takes one static export from the accepted request to its ending. */
export const exportJob = defineRunJob({
  name: 'export',
  queue: 'docs-export',
  concurrency: CONCURRENCY,
  schema: exportRun,
  messages: exportMessages,
  needs: exportNeeds.of,
  hasEnded: ({ state }) => state === 'ended',
  auditLine: (run) => ({
    user: run.requester,
    channel: run.asked.channel,
    what: 'export',
    subject: site(run),
    job: run.jobId,
  }),
  step: ({ run }, context) => step(run, context),
  // An error after the ending is not shown: the person already knows the ending.
  giveUp: async ({ run }, context, ref) =>
    run.state === 'ended'
      ? markIdle(run, context)
      : saveAs(endRun(run, { kind: 'broken', ref }, context.now())),
});

async function step(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  switch (run.state) {
    case 'accepted':
      return acceptExport(run, context);
    case 'postingCard':
      return awaitCard(run, context);
    case 'starting':
      return startExport(run, context);
    case 'watching':
      if (isUnconfirmedJobId(run)) await nameJob(run, context);
      return pollExportJob(run, context);
    case 'bundling':
      return createDownloadLink(run, context);
    case 'unknown':
      return awaitAnswer(run, context);
    case 'ended':
      return handleEnded(run, context);
  }
}

/** Makes the run findable by its job id, if that is known. */
async function nameJob({ id, teamId, project, jobId }: ExportRun, { runs }: JobContext) {
  if (jobId !== undefined) await runs.alias(jobAlias(teamId, project, jobId), id);
}

async function acceptExport(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  const { now, limits, stopping } = context;
  const docs = context.docs(run.project);
  if (run.joined && docs !== undefined) {
    const { jobId = '' } = run;
    const rateLimit = pollRateLimit('export-status', docs.keyId, limits.exportStatusPerSecond);
    const get = () => docs.getExport({ jobId }, { signal: stopping });
    const answer = await lookUpJob(run.id, rateLimit, get, context);
    if (typeof answer === 'number') return runAgainIn(answer);
    if (answer === 'unknown') return saveAs(endRun(run, { kind: 'lost' }, now()));
  }
  await nameJob(run, context);
  return saveAs(advance(run, { state: 'postingCard' }, now()), { audit: 'accepted' });
}

async function awaitCard(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  const nowMs = context.now();
  const card = await loadCardState(run, cardKey(run), context);
  switch (card.kind) {
    case 'waiting':
      return runAgainIn(card.inMs);
    case 'elsewhere':
      return saveAs({ ...run, inDirectMessage: true });
    case 'refused':
      return saveAs(endRun(run, { kind: 'noPlace', code: card.code }, nowMs));
    case 'shown': {
      const state = run.joined ? 'watching' : 'starting';
      return saveAs(advance(run, { state, nextPollAtMs: nowMs }, nowMs));
    }
  }
}

async function handleEnded(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  const { ending } = run;
  if (ending !== undefined && !run.audited)
    return saveAs({ ...run, audited: true }, { audit: `ended: ${ending.kind}` });
  const isWithoutPlace = ending?.kind === 'noPlace';
  if (isWithoutPlace || isRetracted(run)) {
    const name = `${isWithoutPlace ? 'no-place' : 'refused'}.${run.attempt}`;
    const message = isWithoutPlace ? noPlaceMessage(run, ending.code) : retractedMessage(run);
    const inMs = await reportPrivately(run, { name, userId: run.requester.id, message }, context);
    if (inMs > 0) return runAgainIn(inMs);
  }
  const endings = [ending?.kind === 'done' ? ending : undefined, run.earlier?.ending];
  const waits = endings.flatMap((one) =>
    one && !one.expired ? [(one.linkEndsAtMs ?? Infinity) - context.now()] : [],
  );
  if (ending?.kind === 'done' && ending.privately && !ending.expired && ending.refusal === undefined) {
    const delivery = await context.outbox.deliveryState(privateKey(run, run.resumed));
    if (delivery.kind === 'refused') return saveAs({ ...run, ending: { ...ending, refusal: delivery.code } });
    // The thread says that the link was sent. If delivery fails, that has to be corrected soon.
    if (delivery.kind === 'waiting') waits.push(deliveryCheckMs(run, context));
  }
  const leftMs = Math.min(...waits);
  if (leftMs <= 0) return saveAs(markExpiredLinks(run, context.now()));
  return leftMs < Infinity ? runAgainIn(leftMs) : markIdle(run, context);
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

/** Requests a download link for the completed export. */
async function createDownloadLink(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  const { now } = context;
  if (now() < run.nextPollAtMs) return runAgainIn(run.nextPollAtMs - now());
  const endWithoutLink = (details: Omit<Extract<Ending, { kind: 'noLink' }>, 'kind'>) =>
    saveAs(endRun(run, { kind: 'noLink', ...details }, now()));
  const docs = context.docs(run.project);
  if (docs === undefined) return endWithoutLink({ why: 'project' });
  const alone = run.alone ?? (await isForRequesterAlone(run, context));
  if (typeof alone === 'number') return runAgainIn(alone);
  const name = `${run.id}.${run.attempt}.${run.resumed}.${run.relinked}`;
  const link = await makeBundleLink({ ...run, alone }, docs, { jobId: jobIdOf(run), name }, context);
  switch (link.kind) {
    case 'made':
      return saveAs(endRun(run, { kind: 'done', ...link.made, privately: alone }, now()));
    case 'later':
      return link.result;
    case 'failed': {
      const { error, adminsTold } = link;
      return endWithoutLink(
        error.kind === 'key_rejected' ? { why: 'key', adminsTold } : { reason: error.platformMessage },
      );
    }
  }
}

/**
 * Returns whether only the requester gets the link: by the request, or because people of other organizations read the
 * thread; else the milliseconds until the next look-up. It is decided for each link, since channels change. If a channel
 * cannot be looked up for long, only the requester gets it.
 */
async function isForRequesterAlone(run: ExportRun, context: JobContext): Promise<boolean | number> {
  const { slack, timing, now, log } = context;
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
