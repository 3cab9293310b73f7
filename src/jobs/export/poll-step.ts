import { DocsApiError } from '../../docs-api/errors.ts';
import type { ExportJob } from '../../docs-api/schemas.ts';
import { lookAgainIn, type Outcome, pollInMs } from '../job.ts';
import { advance, OPERATOR_MS, troubleAfter, waitOut } from './advance.ts';
import type { ExportContext } from './context.ts';
import { holdLooks, type LookShare, takeLook } from './poll-slots.ts';
import { LOOKS_KEPT, nextLookMs } from './polling.ts';
import { type Ending, type ExportRun, ended, fractionOf, jobIdOf, type Trouble } from './record.ts';

/** Answers "not found" in a row before a job counts as lost: a new job may not be known everywhere at once. */
const LOST_AFTER = 3;

/** Looks before a number below one counts as a fraction, and no longer as less than one percent. */
const LOOKS_TO_BELIEVE = 3;

/** Looks at the export job when its time and its turn have come. */
export async function watch(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const docs = context.docs(run.project);
  const nowMs = context.now();
  // How long trouble lasts, the platform may say.
  const longestMs = run.trouble === undefined ? context.timing.lookMaxMs : Infinity;
  const inMs = pollInMs(run.nextLookAtMs, nowMs, longestMs);
  if (inMs > 0) return lookAgainIn(inMs);
  if (nowMs >= watchEndsAtMs(run, context)) return gaveUp(run, context);

  if (docs === undefined) return waitOut(run, noProject(run, context), context);
  const { pace, limits, timing } = context;
  const share = { key: docs.keyId, perSecond: limits.exportStatusPerSecond };
  const turnInMs = await takeLook(run, share, pace, nowMs);
  if (turnInMs > 0) return lookAgainIn(turnInMs);

  let job: ExportJob;
  try {
    job = await docs.getExport(jobIdOf(run), { signal: context.stopping });
  } catch (error) {
    return noLook(run, error, share, context);
  }
  const atMs = context.now();
  const looked = seen(run, job, atMs);
  const saw = { ...looked, ...moved(run, looked, context) };
  if (job.status === 'completed') {
    return advance(run, { ...saw, state: 'bundling', completedAtMs: endedAtMs(run, job, atMs) }, context);
  }
  if (job.status === 'failed') {
    const completed = { ...run, ...saw, completedAtMs: endedAtMs(run, job, atMs) };
    const ending: Ending = { kind: 'failed', ...(job.error !== undefined && { reason: job.error }) };
    return advance(run, ended(completed, ending, atMs), context);
  }
  const { startedAtMs = run.sinceMs } = { ...run, ...saw };
  const bounds = { minMs: timing.lookMinMs, maxMs: timing.lookMaxMs };
  const nextMs = nextLookMs(saw.looks, startedAtMs, atMs, bounds, context.random());
  return advance(run, { ...saw, nextLookAtMs: atMs + nextMs }, context, nextMs);
}

/** Of a job that had ended before it was first looked at, only the platform knows when. */
const endedAtMs = (run: ExportRun, job: ExportJob, nowMs: number) =>
  run.joined && run.looks.length === 0 ? job.updatedAt : nowMs;

/** What one look adds to the record. A platform that falls silent about something leaves the last word standing. */
export function seen(run: ExportRun, job: ExportJob, atMs: number) {
  // In percent, a job stays below one for its first looks only; as a fraction, until it is done.
  const believed = !job.progress?.unsure || run.looks.length >= LOOKS_TO_BELIEVE;
  const fraction = believed ? job.progress?.fraction : undefined;
  const look = { atMs, ...(fraction !== undefined && { fraction }) };
  return {
    status: job.status === 'unknown' ? job.rawStatus : job.status,
    progressText: job.progress?.text ?? run.progressText,
    pageCount: job.pageCount ?? run.pageCount,
    looks: [...run.looks, look].slice(-LOOKS_KEPT),
    // One that was not started from here began when the platform says so.
    ...(run.joined && job.createdAt !== undefined && { startedAtMs: job.createdAt }),
    lookWanted: undefined,
    trouble: undefined,
  };
}

/**
 * When the export last moved, and whether that is long ago. Of one that tells no progress at all, nobody can say
 * that it has stalled.
 */
function moved(run: ExportRun, saw: ReturnType<typeof seen>, { now, timing }: ExportContext) {
  const nowMs = now();
  const fraction = fractionOf(saw);
  const same =
    saw.status === run.status &&
    saw.progressText === run.progressText &&
    saw.pageCount === run.pageCount &&
    fraction === fractionOf(run);
  const tells = saw.status === 'queued' || (saw.progressText ?? saw.pageCount ?? fraction) !== undefined;
  const movedAtMs = same ? (run.movedAtMs ?? nowMs) : nowMs;
  return { movedAtMs, stalled: tells && nowMs - movedAtMs >= timing.stalledAfterMs };
}

/** A run is watched for so long from the moment its watch began, whoever's fault it is that nothing was seen. */
const watchEndsAtMs = (run: ExportRun, { timing }: ExportContext) => run.sinceMs + timing.watchMs;

function gaveUp(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const nowMs = context.now();
  return advance(run, ended(run, { kind: 'gaveUp', afterMs: nowMs - run.sinceMs }, nowMs), context);
}

/** A look that gave nothing: tried again ever less often, and told when it lasts. */
async function noLook(
  run: ExportRun,
  error: unknown,
  share: LookShare,
  context: ExportContext,
): Promise<Outcome> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return lookAgainIn(0);
  // An id that cannot even be asked for.
  if (error.kind === 'bad_request' && error.happened === 'no') return gaveUp(run, context);
  const trouble = { ...troubleAfter(run, error, context) };
  if (trouble.kind === 'lost' && trouble.inARow >= LOST_AFTER)
    return advance(run, ended(run, { kind: 'lost' }, context.now()), context);
  // A limit is that of the key, so that it is no other run's failure: those wait for their turn.
  if (trouble.kind === 'limit') await holdLooks(share, trouble.nextMs - context.now(), context.pace);
  if (trouble.kind === 'key') {
    context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
    trouble.adminsTold = await context.tellAdmins(run.teamId, run.project);
  }
  const nextMs = Math.min(trouble.nextMs, watchEndsAtMs(run, context));
  return waitOut(run, { ...trouble, nextMs }, context);
}

/** The settings no longer have the project: an operator has to act. */
function noProject(run: ExportRun, context: ExportContext): Trouble {
  const inARow = run.trouble?.kind === 'project' ? run.trouble.inARow + 1 : 1;
  const nextMs = Math.min(context.now() + OPERATOR_MS, watchEndsAtMs(run, context));
  return { kind: 'project', inARow, nextMs };
}
