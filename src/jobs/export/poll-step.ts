import { DocsApiError } from '../../docs-api/errors.ts';
import type { ExportJob } from '../../docs-api/schemas.ts';
import type { JobContext } from '../context.ts';
import { type Outcome, pollInMs, runAgainIn } from '../job.ts';
import { advance, OPERATOR_RETRY_MS, retryLater, troubleAfter } from './advance.ts';
import { holdPolls, type PollShare, takePollSlot } from './poll-slots.ts';
import { MAX_SNAPSHOTS, nextPollMs } from './polling.ts';
import { type Ending, type ExportRun, fractionOf, jobIdOf, type Trouble } from './record.ts';
import { endRun } from './transitions.ts';

/** Answers "not found" in a row before a job counts as lost: a new job may not be known everywhere at once. */
const LOST_AFTER = 3;

/** Looks before a number below one counts as a fraction, and no longer as less than one percent. */
const UNSURE_SNAPSHOTS = 3;

/** Looks at the export job when its time and its turn have come. */
export async function pollExportJob(run: ExportRun, context: JobContext): Promise<Outcome> {
  const docs = context.docs(run.project);
  const nowMs = context.now();
  // How long trouble lasts, the platform may say.
  const longestMs = run.trouble === undefined ? context.timing.pollMaxMs : Infinity;
  const inMs = pollInMs(run.nextLookAtMs, nowMs, longestMs);
  if (inMs > 0) return runAgainIn(inMs);
  if (nowMs >= watchEndsAtMs(run, context)) return giveUpWatch(run, context);

  if (docs === undefined) return retryLater(run, projectTrouble(run, context), context);
  const { rateLimiter, limits, timing } = context;
  const share = { key: docs.keyId, perSecond: limits.exportStatusPerSecond };
  const slotInMs = await takePollSlot(run, share, rateLimiter, nowMs);
  if (slotInMs > 0) return runAgainIn(slotInMs);

  let job: ExportJob;
  try {
    job = await docs.getExport({ jobId: jobIdOf(run) }, { signal: context.stopping });
  } catch (error) {
    return handlePollError(run, error, share, context);
  }
  const atMs = context.now();
  const polled = snapshotChanges(run, job, atMs);
  const changes = { ...polled, ...progressChanges(run, polled, context) };
  if (job.status === 'completed') {
    return advance(run, { ...changes, state: 'bundling', completedAtMs: endedAtMs(run, job, atMs) }, context);
  }
  if (job.status === 'failed') {
    const completed = { ...run, ...changes, completedAtMs: endedAtMs(run, job, atMs) };
    const ending: Ending = { kind: 'failed', ...(job.error !== undefined && { reason: job.error }) };
    return advance(run, endRun(completed, ending, atMs), context);
  }
  const { startedAtMs = run.sinceMs } = { ...run, ...changes };
  const bounds = { minMs: timing.pollMinMs, maxMs: timing.pollMaxMs };
  const nextMs = nextPollMs(changes.looks, startedAtMs, atMs, bounds, context.random());
  return advance(run, { ...changes, nextLookAtMs: atMs + nextMs }, context, nextMs);
}

/** Of a job that had ended before it was first looked at, only the platform knows when. */
const endedAtMs = (run: ExportRun, job: ExportJob, nowMs: number) =>
  run.joined && run.looks.length === 0 ? job.updatedAt : nowMs;

/** What one look adds to the record. A platform that falls silent about something leaves the last word standing. */
export function snapshotChanges(run: ExportRun, job: ExportJob, atMs: number) {
  // In percent, a job stays below one for its first looks only; as a fraction, until it is done.
  const isReliable = !job.progress?.unsure || run.looks.length >= UNSURE_SNAPSHOTS;
  const fraction = isReliable ? job.progress?.fraction : undefined;
  const snapshot = { atMs, ...(fraction !== undefined && { fraction }) };
  return {
    status: job.status === 'unknown' ? job.rawStatus : job.status,
    progressText: job.progress?.text ?? run.progressText,
    pageCount: job.pageCount ?? run.pageCount,
    looks: [...run.looks, snapshot].slice(-MAX_SNAPSHOTS),
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
function progressChanges(
  run: ExportRun,
  polled: ReturnType<typeof snapshotChanges>,
  { now, timing }: JobContext,
) {
  const nowMs = now();
  const fraction = fractionOf(polled);
  const isUnchanged =
    polled.status === run.status &&
    polled.progressText === run.progressText &&
    polled.pageCount === run.pageCount &&
    fraction === fractionOf(run);
  const reportsProgress =
    polled.status === 'queued' || (polled.progressText ?? polled.pageCount ?? fraction) !== undefined;
  const movedAtMs = isUnchanged ? (run.movedAtMs ?? nowMs) : nowMs;
  return { movedAtMs, stalled: reportsProgress && nowMs - movedAtMs >= timing.stalledAfterMs };
}

/** A run is watched for so long from the moment its watch began, whoever's fault it is that nothing was seen. */
const watchEndsAtMs = (run: ExportRun, { timing }: JobContext) => run.sinceMs + timing.watchMs;

function giveUpWatch(run: ExportRun, context: JobContext): Promise<Outcome> {
  const nowMs = context.now();
  return advance(run, endRun(run, { kind: 'gaveUp', afterMs: nowMs - run.sinceMs }, nowMs), context);
}

/** A look that gave nothing: tried again ever less often, and told when it lasts. */
async function handlePollError(
  run: ExportRun,
  error: unknown,
  share: PollShare,
  context: JobContext,
): Promise<Outcome> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return runAgainIn(0);
  // An id that cannot even be asked for.
  if (error.kind === 'bad_request' && error.happened === 'no') return giveUpWatch(run, context);
  const trouble = { ...troubleAfter(run, error, context) };
  if (trouble.kind === 'lost' && trouble.inARow >= LOST_AFTER)
    return advance(run, endRun(run, { kind: 'lost' }, context.now()), context);
  // A limit is that of the key, so that it is no other run's failure: those wait for their turn.
  if (trouble.kind === 'limit') await holdPolls(share, trouble.nextMs - context.now(), context.rateLimiter);
  if (trouble.kind === 'key') {
    context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
    trouble.adminsTold = await context.alertAdmins(run.teamId, run.project);
  }
  const nextMs = Math.min(trouble.nextMs, watchEndsAtMs(run, context));
  return retryLater(run, { ...trouble, nextMs }, context);
}

/** The settings no longer have the project: an operator has to act. */
function projectTrouble(run: ExportRun, context: JobContext): Trouble {
  const inARow = run.trouble?.kind === 'project' ? run.trouble.inARow + 1 : 1;
  const nextMs = Math.min(context.now() + OPERATOR_RETRY_MS, watchEndsAtMs(run, context));
  return { kind: 'project', inARow, nextMs };
}
