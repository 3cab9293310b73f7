import { z } from 'zod';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';
import { lookAtRun } from '../step-run.ts';
import { advance, note, show } from './advance.ts';
import { bundle } from './bundle-step.ts';
import type { ExportContext } from './context.ts';
import { watch } from './poll-step.ts';
import { type DoneEnding, type ExportRun, ended, exportRun, jobAlias } from './record.ts';
import { ask, start } from './start-step.ts';
import { cardKey, noPlaceMessage, privateKey } from './view.ts';

/**
 * Takes one static export from the accepted request to its ending. Each look does one step: work out the next
 * state, save it, show it.
 */
export const exportJob = defineJob<{ runId: string }, ExportContext>({
  name: 'export',
  queue: 'docs-export',
  list: 'runs',
  concurrency: 20,
  data: z.object({ runId: z.string() }),

  run: ({ runId }, context) =>
    lookAtRun(
      'export',
      runId,
      () => context.runs.load(runId, exportRun),
      context,
      async (run) => {
        await show(run, context);
        return step(run, context);
      },
    ),

  async giveUp({ runId }, context, ref) {
    await lookAtRun(
      'export',
      runId,
      () => context.runs.load(runId, exportRun),
      context,
      (run) => giveUp(run, context, ref),
    );
  },
});

async function step(run: ExportRun, context: ExportContext): Promise<Outcome> {
  switch (run.state) {
    case 'accepted':
      await note(run, 'accepted', context);
      if (run.jobId !== undefined)
        await context.runs.alias(jobAlias(run.teamId, run.project, run.jobId), run.id);
      return advance(run, { state: 'carding' }, context);
    case 'carding':
      return card(run, context);
    case 'starting':
      return start(run, context);
    case 'watching':
      return watch(run, context);
    case 'bundling':
      return bundle(run, context);
    case 'unknown':
      return ask(run, context);
    case 'ended':
      return end(run, context);
  }
}

async function giveUp(run: ExportRun, context: ExportContext, ref: string): Promise<Outcome> {
  // What breaks after the ending has nobody to tell: the person knows how it ended.
  if (run.state === 'ended') {
    await context.runs.settle(run, true);
    return done;
  }
  const saved = await context.runs.save(ended(run, { kind: 'broken', ref }, context.now()), true);
  if (saved === undefined) return done;
  await show(saved, context);
  await note(saved, 'ended: broken', context);
  await context.runs.settle(saved, true);
  return done;
}

/** The card comes first: where it cannot be posted, nothing starts. */
async function card(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const delivery = await context.outbox.state(cardKey(run));
  if (delivery.kind === 'shown') {
    const state = run.joined ? ('watching' as const) : ('starting' as const);
    return advance(run, { state, nextLookAtMs: context.now() }, context);
  }
  if (delivery.kind === 'waiting') return lookAgainIn(deliveryPauseMs(run, context));
  if (!run.asked.joinable && !run.inDirectMessage) return advance(run, { inDirectMessage: true }, context);
  return advance(run, ended(run, { kind: 'noPlace', code: delivery.code }, context.now()), context);
}

/** How soon to look again at a message that is on its way. */
const deliveryPauseMs = ({ sinceMs }: ExportRun, { now }: ExportContext) =>
  Math.min(Math.max((now() - sinceMs) / 2, 50), 2000);

async function end(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const { ending } = run;
  if (ending !== undefined && !run.audited) {
    await note(run, `ended: ${ending.kind}`, context);
    return advance(run, { audited: true }, context);
  }
  if (ending?.kind === 'noPlace') await tellNoPlace(run, ending.code, context);
  const endings = [ending?.kind === 'done' ? ending : undefined, run.earlier?.ending];
  const waits = endings.flatMap((one) =>
    one && !one.over ? [(one.linkEndsAtMs ?? Infinity) - context.now()] : [],
  );
  if (ending?.kind === 'done' && ending.privately && !ending.over && ending.refusal === undefined) {
    const delivery = await context.outbox.state(privateKey(run, run.resumed));
    if (delivery.kind === 'refused')
      return advance(run, { ending: { ...ending, refusal: delivery.code } }, context);
    // The thread says that it was sent, and has to hear of it soon when it cannot be.
    if (delivery.kind === 'waiting') waits.push(deliveryPauseMs(run, context));
  }
  const leftMs = Math.min(...waits);
  if (leftMs <= 0) return advance(run, linksOver(run, context.now()), context);
  if (leftMs < Infinity) return lookAgainIn(leftMs);
  await context.runs.settle(run, true);
  return done;
}

/** The links that have ended, marked as such. */
function linksOver({ ending, earlier }: ExportRun, nowMs: number): Partial<ExportRun> {
  const marked = (one: DoneEnding) => ({
    ...one,
    ...((one.linkEndsAtMs ?? Infinity) <= nowMs && { over: true }),
  });
  return {
    ...(ending?.kind === 'done' && { ending: marked(ending) }),
    ...(earlier && { earlier: { ...earlier, ending: marked(earlier.ending) } }),
  };
}

/** Privately where it was asked, or by direct message when that cannot be told to have arrived. */
async function tellNoPlace(run: ExportRun, code: string, context: ExportContext) {
  const message = noPlaceMessage(run, code);
  const responseUrl = await context.runs.responseUrl(run.id);
  if (responseUrl !== undefined) {
    const told = await context.once(run.id, `no-place.${run.attempt}`, () =>
      context.answerPrivately(responseUrl, message, context.timing.slackCallMs),
    );
    if (told.kind === 'done' && told.value) return;
  }
  const key = `${run.id}.no-place.${run.attempt}`;
  await context.outbox.show(
    run.teamId,
    { key, place: { user: run.requester.id }, kind: 'ending', message },
    run.rev,
  );
}
