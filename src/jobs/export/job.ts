import { z } from 'zod';
import type { DocsApi } from '../../docs-api/client.ts';
import { DocsApiError } from '../../docs-api/errors.ts';
import type { ExportJob } from '../../docs-api/schemas.ts';
import type { Log } from '../../log.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { AnswerPrivately } from '../../slack/response-url.ts';
import type { LinkStore } from '../../store/links.ts';
import type { RunStore } from '../../store/runs.ts';
import type { StepStore } from '../../store/steps.ts';
import { backoffMs, type Timing } from '../../timing.ts';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';
import type { Once } from '../once.ts';
import { LOOKS_KEPT, nextLookMs } from './polling.ts';
import { type Ending, type ExportRun, ended, exportRun, type Trouble } from './run.ts';
import { cardKey, exportMessages, noPlaceMessage } from './view.ts';

export interface ExportContext {
  runs: RunStore;
  docs: DocsApi;
  links: LinkStore;
  outbox: Outbox;
  once: Once;
  steps: StepStore;
  /** Sees to it that the run is looked at soon. */
  wake: (run: ExportRun) => Promise<void>;
  answerPrivately: AnswerPrivately;
  /** Aborted when the process is to stop: reads end early, starts never. */
  stopping: AbortSignal;
  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}

/** A link whose end the platform did not tell is forgotten after this time. */
const LINK_WITHOUT_END_MS = 3_600_000;

/** Answers "not found" in a row before a job counts as lost: a new job may not be known everywhere at once. */
const LOST_AFTER = 3;

/** Looks before a number below one counts as a fraction, and no longer as less than one percent. */
const LOOKS_TO_BELIEVE = 3;

/** How often a job is looked at while the key is refused. */
const KEY_REFUSED_MS = 60_000;

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
    if (run === undefined || run.state === 'ended') return;
    const saved = await context.runs.save(ended(run, { kind: 'broken', ref }, context.now()), true);
    if (saved === undefined) return;
    await show(saved, context);
    await context.runs.settle(saved, true);
  },
});

/** Saves the next state and goes on with it at once, or after `inMs`. */
async function advance(
  run: ExportRun,
  changes: Partial<ExportRun>,
  context: ExportContext,
  inMs = 0,
): Promise<Outcome> {
  const entered =
    changes.state === undefined || changes.state === run.state ? {} : { sinceMs: context.now() };
  const next = { ...run, ...entered, ...changes };
  // Freed before people read of the ending, so that the same can be asked for at once.
  const saved = await context.runs.save(next, next.state === 'ended');
  if (saved === undefined) {
    // This process may have been taken for dead: then its job is gone, and so is its chance to look again.
    context.log.info({ run: run.id, rev: run.rev }, 'the run was changed meanwhile');
    await context.wake(run);
    return done;
  }
  if (saved.state !== run.state)
    context.log.info({ run: run.id, state: saved.state, ending: saved.ending?.kind }, 'export');
  if (inMs > 0) await show(saved, context);
  return lookAgainIn(inMs);
}

async function show(run: ExportRun, { outbox }: ExportContext) {
  for (const shown of exportMessages(run)) await outbox.show(run.teamId, shown, run.rev);
}

/** The card comes first: where it cannot be posted, nothing starts. */
async function card(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const delivery = await context.outbox.state(cardKey(run));
  if (delivery.kind === 'shown') return advance(run, { state: 'starting' }, context);
  if (delivery.kind === 'waiting')
    return lookAgainIn(Math.min(Math.max((context.now() - run.sinceMs) / 2, 50), 2000));
  if (!run.asked.joinable && !run.inDirectMessage) return advance(run, { inDirectMessage: true }, context);
  return advance(run, ended(run, { kind: 'noPlace', code: delivery.code }, context.now()), context);
}

async function start(run: ExportRun, context: ExportContext): Promise<Outcome> {
  if (context.now() < run.nextLookAtMs) return lookAgainIn(run.nextLookAtMs - context.now());
  const outcome = await context.once(run.id, stepOf(run), () =>
    context.docs.startExport({ domain: run.domain }),
  );
  switch (outcome.kind) {
    case 'done':
      return advance(run, started(run, outcome.value, context.now()), context);
    case 'inFlight':
      return lookAgainIn(outcome.forMs);
    case 'unknown':
      context.log.warn({ run: run.id, err: outcome.error }, 'a start without an answer');
      return advance(run, { state: 'unknown' }, context);
    case 'notHappened':
      return notStarted(run, outcome.error, context);
  }
}

const stepOf = (run: ExportRun) => `start.${run.attempt}`;

function started(run: ExportRun, job: ExportJob, nowMs: number): Partial<ExportRun> {
  const times = { startedAtMs: nowMs, nextLookAtMs: nowMs };
  return { state: 'watching', jobId: job.jobId, ...times, ...seen(run, job, nowMs) };
}

async function notStarted(run: ExportRun, error: unknown, context: ExportContext): Promise<Outcome> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return lookAgainIn(0);
  const nowMs = context.now();
  const why = whyNotStarted(error);
  if (error.retryable) {
    const trouble = troubleAfter(run, error, context);
    const patienceMs =
      error.retryAfterMs === undefined ? context.timing.giveUpMs : context.timing.limitWaitMs;
    if (trouble.nextMs <= run.attemptAtMs + patienceMs) return waitOut(run, trouble, context);
  }
  const reason = error.platformMessage;
  return advance(
    run,
    ended(run, { kind: 'notStarted', why, ...(reason !== undefined && { reason }) }, nowMs),
    context,
  );
}

function whyNotStarted(error: DocsApiError): Extract<Ending, { kind: 'notStarted' }>['why'] {
  switch (error.kind) {
    case 'bad_request':
      return 'domain';
    case 'forbidden':
      return 'plan';
    case 'key_rejected':
      return 'key';
    case 'rate_limited':
      return 'limit';
    case 'refused':
      return 'down';
    default:
      return 'other';
  }
}

async function watch(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const { startedAtMs = run.sinceMs } = run;
  const nowMs = context.now();
  if (nowMs < run.nextLookAtMs) return lookAgainIn(run.nextLookAtMs - nowMs);
  if (nowMs >= watchEndsAtMs(run, context)) return gaveUp(run, context);

  let job: ExportJob;
  try {
    job = await context.docs.getExport(jobIdOf(run), { signal: context.stopping });
  } catch (error) {
    return noLook(run, error, context);
  }
  const saw = seen(run, job, context.now());
  if (job.status === 'completed') {
    return advance(run, { ...saw, state: 'bundling', completedAtMs: context.now() }, context);
  }
  if (job.status === 'failed') {
    const completed = { ...run, ...saw, completedAtMs: context.now() };
    const ending: Ending = { kind: 'failed', ...(job.error !== undefined && { reason: job.error }) };
    return advance(run, ended(completed, ending, context.now()), context);
  }
  const bounds = { minMs: context.timing.lookMinMs, maxMs: context.timing.lookMaxMs };
  const inMs = nextLookMs(saw.looks, startedAtMs, context.now(), bounds, context.random());
  return advance(run, { ...saw, nextLookAtMs: context.now() + inMs }, context, inMs);
}

function jobIdOf(run: ExportRun): string {
  if (run.jobId === undefined) throw new Error('a run in this state has an export job');
  return run.jobId;
}

/** What one look adds to the record. A platform that falls silent about something leaves the last word standing. */
function seen(run: ExportRun, job: ExportJob, atMs: number) {
  // In percent, a job stays below one for its first looks only; as a fraction, until it is done.
  const believed = !job.progress?.unsure || run.looks.length >= LOOKS_TO_BELIEVE;
  const fraction = believed ? job.progress?.fraction : undefined;
  const look = { atMs, ...(fraction !== undefined && { fraction }) };
  return {
    status: job.status === 'unknown' ? job.rawStatus : job.status,
    progressText: job.progress?.text ?? run.progressText,
    pageCount: job.pageCount ?? run.pageCount,
    looks: [...run.looks, look].slice(-LOOKS_KEPT),
    trouble: undefined,
  };
}

/** A run is watched for so long from the moment its watch began, whoever's fault it is that nothing was seen. */
const watchEndsAtMs = (run: ExportRun, { timing }: ExportContext) => run.sinceMs + timing.watchMs;

function gaveUp(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const nowMs = context.now();
  return advance(run, ended(run, { kind: 'gaveUp', afterMs: nowMs - run.sinceMs }, nowMs), context);
}

/** A look that gave nothing: tried again ever less often, and told when it lasts. */
async function noLook(run: ExportRun, error: unknown, context: ExportContext): Promise<Outcome> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return lookAgainIn(0);
  // An id that cannot even be asked for.
  if (error.kind === 'bad_request' && error.happened === 'no') return gaveUp(run, context);
  const trouble = troubleAfter(run, error, context);
  if (trouble.kind === 'lost' && trouble.inARow >= LOST_AFTER)
    return advance(run, ended(run, { kind: 'lost' }, context.now()), context);
  if (trouble.kind === 'key')
    context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
  const nextMs = Math.min(trouble.nextMs, watchEndsAtMs(run, context));
  return waitOut(run, { ...trouble, nextMs }, context);
}

/** The trouble of a run after one more failed call. It ends when the platform says, or after ever longer pauses. */
function troubleAfter(run: ExportRun, error: DocsApiError, { now, random, timing }: ExportContext): Trouble {
  const kind = troubleOf(error);
  const inARow = run.trouble?.kind === kind ? run.trouble.inARow + 1 : 1;
  const pauseMs = kind === 'key' ? KEY_REFUSED_MS : backoffMs(timing, inARow, random());
  return { kind, inARow, nextMs: now() + Math.max(error.retryAfterMs ?? 0, pauseMs) };
}

/** Tells of the trouble and tries the same step again when its time has come. */
function waitOut(run: ExportRun, trouble: Trouble, context: ExportContext): Promise<Outcome> {
  return advance(run, { trouble, nextLookAtMs: trouble.nextMs }, context, trouble.nextMs - context.now());
}

function troubleOf(error: DocsApiError): Trouble['kind'] {
  if (error.kind === 'key_rejected' || error.kind === 'forbidden') return 'key';
  if (error.kind === 'rate_limited') return 'limit';
  return error.kind === 'not_found' ? 'lost' : 'down';
}

async function bundle(run: ExportRun, context: ExportContext): Promise<Outcome> {
  if (context.now() < run.nextLookAtMs) return lookAgainIn(run.nextLookAtMs - context.now());
  try {
    const { bundleUrl, expiresAt, sizeBytes } = await context.docs.createBundle(jobIdOf(run), {
      signal: context.stopping,
    });
    const link = `${run.id}.${run.attempt}.${run.resumed}.${run.relinked}`;
    await context.links.put(link, bundleUrl, expiresAt ?? context.now() + LINK_WITHOUT_END_MS);
    const ending: Ending = { kind: 'done', link, linkEndsAtMs: expiresAt, sizeBytes };
    return advance(run, ended(run, ending, context.now()), context);
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return lookAgainIn(0);
    const trouble = troubleAfter(run, error, context);
    // A platform that has just completed a job may still call it incomplete for a moment.
    const worthwhile = error.retryable || error.kind === 'conflict';
    if (!worthwhile || trouble.nextMs > run.sinceMs + context.timing.giveUpMs) {
      return advance(run, ended(run, { kind: 'noLink' }, context.now()), context);
    }
    return waitOut(run, trouble, context);
  }
}

/** The question stands until a person answers it, or the answer of the platform comes late. */
async function ask(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const late = await context.steps.result(run.id, stepOf(run));
  if (late === undefined) {
    await context.runs.settle(run, false);
    return done;
  }
  const answer = { attempt: run.attempt, by: '', byId: '', action: 'late' } as const;
  return advance(run, { ...started(run, late.value as ExportJob, context.now()), answer }, context);
}

async function end(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const { ending } = run;
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
