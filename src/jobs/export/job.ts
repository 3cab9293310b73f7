import { deliveryCheckMs, loadCardState, reportPrivately } from '../card.ts';
import type { JobContext } from '../context.ts';
import { runAgainIn } from '../job.ts';
import { lookUpJob, pollRateLimit } from '../polling.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../run-job.ts';
import { createDownloadLink } from './bundle-step.ts';
import { retractedMessage } from './ending-view.ts';
import { exportNeeds } from './needs.ts';
import { site } from './phrases.ts';
import { pollExportJob } from './poll-step.ts';
import { type DoneEnding, type ExportRun, exportRun, isRetracted, jobAlias } from './record.ts';
import { noPlaceMessage } from './reply-view.ts';
import { awaitAnswer, startExport } from './start-step.ts';
import { advance, endRun, isUnconfirmedJobId } from './transitions.ts';
import { cardKey, exportMessages, privateKey } from './view.ts';

/** A step waits for the platform most of the time, and thousands may be due within seconds. */
const CONCURRENCY = 100;

/** Takes one static export from the accepted request to its ending. */
export const exportJob = defineRunJob({
  name: 'export',
  queue: 'docs-export',
  concurrency: CONCURRENCY,
  schema: exportRun,
  messages: (run) => exportMessages(run).map((message) => ({ by: run.requester.id, ...message })),
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
  if (ending?.kind === 'noPlace') {
    const name = `no-place.${run.attempt}`;
    const message = noPlaceMessage(run, ending.code);
    const inMs = await reportPrivately(run, { name, userId: run.requester.id, message }, context);
    if (inMs > 0) return runAgainIn(inMs);
  }
  if (isRetracted(run)) {
    const name = `refused.${run.attempt}`;
    const report = { name, userId: run.requester.id, message: retractedMessage(run) };
    const inMs = await reportPrivately(run, report, context);
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
