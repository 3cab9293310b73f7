import { DocsApiError } from '../../docs-api/errors.ts';
import type { ExportJob } from '../../docs-api/schemas.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import type { JobContext } from '../context.ts';
import { runAgainIn } from '../job.ts';
import { failureOfPoll, nextPollMs, pollInMs, pollRateLimit } from '../polling.ts';
import { nextFailure } from '../retry.ts';
import { type StepResult, saveAs } from '../run-job.ts';
import { durationName, type Ending, type ExportRun, jobIdOf } from './record.ts';
import {
  advance,
  applyProgress,
  applySnapshot,
  endRun,
  isUnconfirmedJobId,
  reopenQuestion,
  withFailure,
} from './transitions.ts';

/** Consecutive "not found" answers before a job counts as lost: a new job may not be known everywhere at once. */
const LOST_AFTER = 3;

/** Polls the export job when the poll is due and a slot is free. */
export async function pollExportJob(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  const { rateLimiter, limits, timing, now } = context;
  const docs = context.docs(run.project);
  const nowMs = now();
  const dueInMs = pollInMs(run, nowMs, timing);
  if (dueInMs > 0) return runAgainIn(dueInMs);
  if (nowMs >= watchEndsAtMs(run, context)) return giveUpWatch(run, nowMs);
  if (docs === undefined) return saveTrouble(run, nextFailure(run.pollFailure, 'project', context), context);
  const rateLimit = pollRateLimit('export-status', docs.keyId, limits.exportStatusPerSecond);
  const slotInMs = await rateLimiter.takeSlot(rateLimit, pollSlotOf(run));
  if (slotInMs > 0) return runAgainIn(slotInMs);

  let job: ExportJob;
  try {
    job = await docs.getExport({ jobId: jobIdOf(run) }, { signal: context.stopping });
  } catch (error) {
    return handlePollError(run, error, rateLimit, context);
  }
  const atMs = now();
  const polled = applyProgress(applySnapshot(run, job, atMs), run, now(), timing.stalledAfterMs);
  // If a job had ended before its first poll, only the platform knows when.
  const isFirst = run.snapshots.length === 0 && (run.joined || run.answer?.action === 'watchIt');
  const endedAtMs = isFirst ? job.updatedAt : atMs;
  if (job.status === 'completed') {
    await keepDuration(run, atMs, context);
    return saveAs(advance(polled, { state: 'bundling', completedAtMs: endedAtMs }, now()));
  }
  if (job.status === 'failed') {
    const ending: Ending = { kind: 'failed', ...(job.error !== undefined && { reason: job.error }) };
    return saveAs(endRun({ ...polled, completedAtMs: endedAtMs }, ending, atMs));
  }
  const inMs = nextPollInMs(polled, atMs, context);
  return saveAs({ ...polled, nextPollAtMs: atMs + inMs }, { inMs });
}

/** Returns the milliseconds from `atMs` to the next poll, by this export's progress and the site's last duration. */
export function nextPollInMs(run: ExportRun, atMs: number, { timing, random }: JobContext): number {
  const { startedAtMs = run.sinceMs, snapshots, lastDurationMs } = run;
  return nextPollMs({ startedAtMs, snapshots, lastDurationMs }, atMs, timing, random());
}

/** Keeps the duration of a completed export as a hint for the site's next one. Safe to repeat. */
async function keepDuration(run: ExportRun, endedAtMs: number, { durations }: JobContext): Promise<void> {
  const name = durationName(run);
  if (name === undefined || run.startedAtMs === undefined || run.startedAtMs >= endedAtMs) return;
  await durations.save(name, endedAtMs - run.startedAtMs);
}

/** Returns the slot request. A poll that a person asked for has priority. */
const pollSlotOf = ({ id, pollRequested }: ExportRun) =>
  ({ id, priority: pollRequested ? 'interactive' : 'low' }) as const;

/** The watch ends this long after it began, even if polls failed. */
const watchEndsAtMs = (run: ExportRun, { timing }: JobContext) => run.sinceMs + timing.watchMs;

const giveUpWatch = (run: ExportRun, nowMs: number) =>
  saveAs(endRun(run, { kind: 'gaveUp', afterMs: nowMs - run.sinceMs }, nowMs));

const saveQuestion = (run: ExportRun, { now }: JobContext) =>
  saveAs(reopenQuestion(run, now()), { audit: 'job not found, start unclear' });

function saveTrouble(run: ExportRun, trouble: NonNullable<ExportRun['pollFailure']>, context: JobContext) {
  const nextMs = Math.min(trouble.nextMs, watchEndsAtMs(run, context));
  return saveAs(withFailure(run, { ...trouble, nextMs }), { inMs: nextMs - context.now() });
}

/** Retries a failed poll with growing pauses. Messages mention the failure if it lasts. */
async function handlePollError(
  run: ExportRun,
  error: unknown,
  rateLimit: RateLimit,
  context: JobContext,
): Promise<StepResult<ExportRun>> {
  // An id that cannot be used in a request.
  if (error instanceof DocsApiError && error.kind === 'bad_request' && error.happened === 'no')
    return isUnconfirmedJobId(run) ? saveQuestion(run, context) : giveUpWatch(run, context.now());
  const failed = await failureOfPoll(run, error, rateLimit, context);
  if (failed === undefined) return runAgainIn(0);
  const { trouble, ...alert } = failed;
  if (trouble.kind === 'lost' && trouble.inARow >= LOST_AFTER && isUnconfirmedJobId(run))
    return saveQuestion(run, context);
  if (trouble.kind === 'lost' && trouble.inARow >= LOST_AFTER)
    return saveAs(endRun(run, { kind: 'lost' }, context.now()));
  return saveTrouble(run, { ...trouble, ...alert }, context);
}
