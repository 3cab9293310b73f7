import { DocsApiError } from '../../docs-api/errors.ts';
import type { ExportJob, StartedExport } from '../../docs-api/schemas.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import { recheckPermission } from '../card.ts';
import type { JobContext } from '../context.ts';
import { done, runAgainIn } from '../job.ts';
import { failureOfPoll, nextPollMs, pollInMs, pollRateLimit } from '../polling.ts';
import { lookupRetryMs, nextFailure } from '../retry.ts';
import { type StepResult, saveAs } from '../run-job.ts';
import { type Ending, type ExportRun, jobAlias, jobIdOf } from './record.ts';
import {
  advance,
  applySnapshot,
  endRun,
  isUnconfirmedJobId,
  reopenQuestion,
  withFailure,
} from './transitions.ts';

type NotStarted = Extract<Ending, { kind: 'notStarted' }>;

const NOT_STARTED_REASONS: Partial<Record<DocsApiError['kind'], NotStarted['why']>> = {
  bad_request: 'domain',
  forbidden: 'plan',
  key_rejected: 'key',
  rate_limited: 'limit',
  refused: 'down',
};

/** Starts the export at the platform, once. */
export async function startExport(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  const { now } = context;
  if (now() < run.nextPollAtMs) return runAgainIn(run.nextPollAtMs - now());
  const { answer } = run;
  // A person chose to start again, but the first start's answer has come: it did start.
  const isAgain = answer?.action === 'startAgain' && answer.attempt === run.attempt - 1;
  const late = isAgain ? await beginLateWatch(run, answer.attempt, context) : undefined;
  if (late !== undefined) return late;
  const docs = context.docs(run.project);
  const { domain, version, paths } = run;
  const permission: { verdict?: Awaited<ReturnType<typeof recheckPermission>> } = {};
  const endNotStarted = (why: NotStarted['why'], reason?: string) =>
    endRun(run, { kind: 'notStarted', why, ...(reason !== undefined && { reason }) }, now());
  // A start made before the project or permission was lost is still found here.
  const start = async (isTooLate: () => boolean) => {
    if (docs === undefined)
      throw new DocsApiError('startExport', 'bad_request', { happened: 'no', what: 'no project' });
    permission.verdict = await recheckPermission(run.requester.id, run.attemptAtMs, context);
    if (permission.verdict.kind !== 'allowed')
      throw new DocsApiError('startExport', 'bad_request', { happened: 'no', what: 'not permitted' });
    return docs.startExport({ domain, version, paths }, { isTooLate });
  };
  const outcome = await context.callOnce(run, startStep(run), context.timing.docsCallMs, start);
  switch (outcome.kind) {
    case 'done':
      return beginWatch(run, outcome.value, context);
    case 'inFlight':
      return runAgainIn(outcome.forMs);
    case 'unknown':
      context.log.warn({ run: run.id, err: outcome.error }, 'export start: outcome unknown');
      return saveAs(advance(run, { state: 'unknown' }, now()), { audit: 'start unclear' });
    case 'notHappened': {
      if (docs === undefined) return saveAs(endNotStarted('project'));
      const { verdict } = permission;
      if (verdict?.kind === 'unknown') return runAgainIn(lookupRetryMs(context));
      if (verdict?.kind !== 'refused') return handleStartError(run, outcome.error, context);
      return saveAs(endNotStarted('permission', verdict.ask), { audit: 'refused: not permitted' });
    }
  }
}

/** Returns the name of the step that starts the present attempt. */
export const startStep = ({ attempt }: Pick<ExportRun, 'attempt'>) => `start.${attempt}`;

/** The platform has answered: makes the run findable by its job id, and watches the job. */
async function beginWatch(run: ExportRun, job: StartedExport, context: JobContext) {
  const { runs, now } = context;
  await runs.alias(jobAlias(run.teamId, run.project, job.jobId), run.id);
  const nowMs = now();
  const started = { state: 'watching' as const, jobId: job.jobId, startedAtMs: nowMs, nextPollAtMs: nowMs };
  const watched = applySnapshot(advance(run, started, nowMs), job, nowMs, context.timing.stalledAfterMs);
  // A job that was found later may have ended already.
  if (run.answer?.action === 'late' || job.status === 'completed' || job.status === 'failed')
    return saveAs(watched);
  const inMs = nextPollInMs(watched, nowMs, context);
  return saveAs({ ...watched, nextPollAtMs: nowMs + inMs }, { inMs });
}

/** If the platform has answered the start of that attempt, watches the export; else returns undefined. */
async function beginLateWatch(run: ExportRun, attempt: number, context: JobContext) {
  const late = await context.callResult(run.id, startStep({ attempt }));
  if (late === undefined) return undefined;
  const answer = { attempt, by: '', byId: '', action: 'late' as const };
  return beginWatch({ ...run, answer }, late.result as StartedExport, context);
}

async function handleStartError(
  run: ExportRun,
  error: unknown,
  context: JobContext,
): Promise<StepResult<ExportRun>> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return runAgainIn(0);
  const nowMs = context.now();
  const why = NOT_STARTED_REASONS[error.kind] ?? 'other';
  if (error.retryable) {
    const trouble = nextFailure(run.pollFailure, error, context);
    const maxWaitMs = error.retryAfterMs === undefined ? context.timing.giveUpMs : context.timing.limitWaitMs;
    if (trouble.nextMs <= run.attemptAtMs + maxWaitMs)
      return saveAs(withFailure(run, trouble), { inMs: trouble.nextMs - nowMs });
  }
  context.log.info({ run: run.id, why, err: error }, 'the platform did not start an export');
  const adminsTold =
    ['key', 'plan'].includes(why) && (await context.alertAdmins(run.teamId, run.project, error));
  const reason = error.platformMessage;
  const details = { ...(reason !== undefined && { reason }), ...(adminsTold && { adminsTold }) };
  return saveAs(endRun(run, { kind: 'notStarted', why, ...details }, nowMs));
}

/** Waits until a person answers the question, or the platform's late answer arrives. */
export async function awaitAnswer(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  const late = await beginLateWatch(run, run.attempt, context);
  if (late !== undefined) return late;
  await context.runs.markIdle(run, false);
  // If the result came first, its `markDue` was undone by `markIdle`.
  if ((await context.callResult(run.id, startStep(run))) === undefined) return done;
  await context.runs.markDue(run.job, run.id);
  return runAgainIn(0);
}

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
  const polled = applySnapshot(run, job, atMs, timing.stalledAfterMs);
  // If a job had ended before its first poll, only the platform knows when.
  const isFirst = run.snapshots.length === 0 && (run.joined || run.answer?.action === 'watchIt');
  const endedAtMs = isFirst ? job.updatedAt : atMs;
  if (job.status === 'completed') {
    return saveAs(advance(polled, { state: 'bundling', completedAtMs: endedAtMs }, now()));
  }
  if (job.status === 'failed') {
    const ending: Ending = { kind: 'failed', ...(job.error !== undefined && { reason: job.error }) };
    return saveAs(endRun({ ...polled, completedAtMs: endedAtMs }, ending, atMs));
  }
  const inMs = nextPollInMs(polled, atMs, context);
  return saveAs({ ...polled, nextPollAtMs: atMs + inMs }, { inMs });
}

/** Returns the milliseconds from `atMs` to the next poll. */
const nextPollInMs = (
  { startedAtMs, sinceMs, snapshots }: ExportRun,
  atMs: number,
  { timing, random }: JobContext,
) => nextPollMs({ startedAtMs: startedAtMs ?? sinceMs, snapshots }, atMs, timing, random());

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
