import type { JobContext } from '../context.ts';
import { done, type Outcome, runAgainIn } from '../job.ts';
import { defineRunJob } from '../run-job.ts';
import { addAudit, advance, publishMessages } from './advance.ts';
import { createDownloadLink } from './bundle-step.ts';
import { pollExportJob } from './poll-step.ts';
import { type DoneEnding, type ExportRun, exportRun, jobAlias } from './record.ts';
import { awaitAnswer, startExport } from './start-step.ts';
import { endRun } from './transitions.ts';
import { cardKey, noPlaceMessage, privateKey } from './view.ts';

/**
 * Takes one static export from the accepted request to its ending. Each step works out the next state, saves it and
 * publishes it.
 */
export const exportJob = defineRunJob({
  name: 'export',
  queue: 'docs-export',
  concurrency: 20,
  schema: exportRun,
  async step({ run }, context) {
    await publishMessages(run, context);
    return step(run, context);
  },
  giveUp: ({ run }, context, ref) => giveUp(run, context, ref),
});

async function step(run: ExportRun, context: JobContext): Promise<Outcome> {
  switch (run.state) {
    case 'accepted':
      await addAudit(run, 'accepted', context);
      if (run.jobId !== undefined)
        await context.runs.alias(jobAlias(run.teamId, run.project, run.jobId), run.id);
      return advance(run, { state: 'carding' }, context);
    case 'carding':
      return postCard(run, context);
    case 'starting':
      return startExport(run, context);
    case 'watching':
      return pollExportJob(run, context);
    case 'bundling':
      return createDownloadLink(run, context);
    case 'unknown':
      return awaitAnswer(run, context);
    case 'ended':
      return handleEnded(run, context);
  }
}

async function giveUp(run: ExportRun, context: JobContext, ref: string): Promise<Outcome> {
  // What breaks after the ending has nobody to tell: the person knows how it ended.
  if (run.state === 'ended') {
    await context.runs.markIdle(run, true);
    return done;
  }
  const saved = await context.runs.save(endRun(run, { kind: 'broken', ref }, context.now()), true);
  if (saved === undefined) return done;
  await publishMessages(saved, context);
  await addAudit(saved, 'ended: broken', context);
  await context.runs.markIdle(saved, true);
  return done;
}

/** The card comes first: where it cannot be posted, nothing starts. */
async function postCard(run: ExportRun, context: JobContext): Promise<Outcome> {
  const delivery = await context.outbox.deliveryState(cardKey(run));
  if (delivery.kind === 'shown') {
    const state = run.joined ? ('watching' as const) : ('starting' as const);
    return advance(run, { state, nextLookAtMs: context.now() }, context);
  }
  if (delivery.kind === 'waiting') return runAgainIn(deliveryCheckMs(run, context));
  if (!run.asked.joinable && !run.inDirectMessage) return advance(run, { inDirectMessage: true }, context);
  return advance(run, endRun(run, { kind: 'noPlace', code: delivery.code }, context.now()), context);
}

/** How soon to look again at a message that is on its way. */
const deliveryCheckMs = ({ sinceMs }: ExportRun, { now }: JobContext) =>
  Math.min(Math.max((now() - sinceMs) / 2, 50), 2000);

async function handleEnded(run: ExportRun, context: JobContext): Promise<Outcome> {
  const { ending } = run;
  if (ending !== undefined && !run.audited) {
    await addAudit(run, `ended: ${ending.kind}`, context);
    return advance(run, { audited: true }, context);
  }
  if (ending?.kind === 'noPlace') await reportNoPlace(run, ending.code, context);
  const endings = [ending?.kind === 'done' ? ending : undefined, run.earlier?.ending];
  const waits = endings.flatMap((one) =>
    one && !one.over ? [(one.linkEndsAtMs ?? Infinity) - context.now()] : [],
  );
  if (ending?.kind === 'done' && ending.privately && !ending.over && ending.refusal === undefined) {
    const delivery = await context.outbox.deliveryState(privateKey(run, run.resumed));
    if (delivery.kind === 'refused')
      return advance(run, { ending: { ...ending, refusal: delivery.code } }, context);
    // The thread says that it was sent, and has to hear of it soon when it cannot be.
    if (delivery.kind === 'waiting') waits.push(deliveryCheckMs(run, context));
  }
  const leftMs = Math.min(...waits);
  if (leftMs <= 0) return advance(run, markExpiredLinks(run, context.now()), context);
  if (leftMs < Infinity) return runAgainIn(leftMs);
  await context.runs.markIdle(run, true);
  return done;
}

/** The links that have ended, marked as such. */
function markExpiredLinks({ ending, earlier }: ExportRun, nowMs: number): Partial<ExportRun> {
  const markExpired = (one: DoneEnding) => ({
    ...one,
    ...((one.linkEndsAtMs ?? Infinity) <= nowMs && { over: true }),
  });
  return {
    ...(ending?.kind === 'done' && { ending: markExpired(ending) }),
    ...(earlier && { earlier: { ...earlier, ending: markExpired(earlier.ending) } }),
  };
}

/** Privately where it was asked, or by direct message when that cannot be told to have arrived. */
async function reportNoPlace(run: ExportRun, code: string, context: JobContext) {
  const message = noPlaceMessage(run, code);
  const responseUrl = await context.runs.responseUrl(run.id);
  if (responseUrl !== undefined) {
    const posted = await context.callOnce(run.id, `no-place.${run.attempt}`, () =>
      context.postEphemeral(responseUrl, message, context.timing.slackCallMs),
    );
    if (posted.kind === 'done' && posted.value) return;
  }
  const key = `${run.id}.no-place.${run.attempt}`;
  await context.outbox.publish(
    run.teamId,
    { key, place: { user: run.requester.id }, kind: 'ending', message },
    run.rev,
  );
}
