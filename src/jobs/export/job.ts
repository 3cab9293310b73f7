import { z } from 'zod';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';
import { advance, note, show } from './advance.ts';
import { bundle } from './bundle-step.ts';
import type { ExportContext } from './context.ts';
import { type ExportRun, ended, exportRun, jobAlias } from './run.ts';
import { ask, start } from './start-step.ts';
import { cardKey, noPlaceMessage } from './view.ts';
import { watch } from './watch-step.ts';

/**
 * Takes one static export from the accepted request to its ending. Each look does one step: work out the next
 * state, save it, show it.
 */
export const exportJob = defineJob<{ runId: string }, ExportContext>({
  name: 'export',
  queue: 'docs-export',
  concurrency: 20,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const run = await context.runs.load(runId, exportRun);
    if (run === undefined) {
      await context.runs.forget('export', runId);
      return done;
    }
    await show(run, context);
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
  },

  async giveUp({ runId }, context, ref) {
    const run = await context.runs.load(runId, exportRun);
    if (run === undefined) return;
    // What breaks after the ending has nobody to tell: the person knows how it ended.
    if (run.state === 'ended') return context.runs.settle(run, true);
    const saved = await context.runs.save(ended(run, { kind: 'broken', ref }, context.now()), true);
    if (saved === undefined) return;
    await show(saved, context);
    await note(saved, 'ended: broken', context);
    await context.runs.settle(saved, true);
  },
});

/** The card comes first: where it cannot be posted, nothing starts. */
async function card(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const delivery = await context.outbox.state(cardKey(run));
  if (delivery.kind === 'shown') {
    const state = run.joined ? ('watching' as const) : ('starting' as const);
    return advance(run, { state, nextLookAtMs: context.now() }, context);
  }
  if (delivery.kind === 'waiting')
    return lookAgainIn(Math.min(Math.max((context.now() - run.sinceMs) / 2, 50), 2000));
  if (!run.asked.joinable && !run.inDirectMessage) return advance(run, { inDirectMessage: true }, context);
  return advance(run, ended(run, { kind: 'noPlace', code: delivery.code }, context.now()), context);
}

async function end(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const { ending } = run;
  if (ending !== undefined && !run.audited) {
    await note(run, `ended: ${ending.kind}`, context);
    return advance(run, { audited: true }, context);
  }
  if (ending?.kind === 'noPlace') await tellNoPlace(run, ending.code, context);
  if (ending?.kind === 'done' && ending.linkEndsAtMs !== undefined && !ending.over) {
    const leftMs = ending.linkEndsAtMs - context.now();
    if (leftMs > 0) return lookAgainIn(leftMs);
    return advance(run, { ending: { ...ending, over: true } }, context);
  }
  await context.runs.settle(run, true);
  return done;
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
