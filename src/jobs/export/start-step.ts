import { DocsApiError } from '../../docs-api/errors.ts';
import { createError } from '../../docs-api/failures.ts';
import type { ExportJob } from '../../docs-api/schemas.ts';
import type { PermissionResult } from '../../policy.ts';
import { backoffMs } from '../../runtime/timing.ts';
import { contactsText } from '../ask-whom.ts';
import type { JobContext } from '../context.ts';
import { done, type Outcome, runAgainIn } from '../job.ts';
import { addAudit, advance, retryLater, troubleAfter } from './advance.ts';
import { snapshotChanges } from './poll-step.ts';
import { type Ending, type ExportRun, jobAlias } from './record.ts';
import { endRun } from './transitions.ts';

/** Starts the export at the platform, once. */
export async function startExport(run: ExportRun, context: JobContext): Promise<Outcome> {
  if (context.now() < run.nextLookAtMs) return runAgainIn(run.nextLookAtMs - context.now());
  const late = await applyLateResult(run, context);
  if (late !== undefined) return late;
  const docs = context.docs(run.project);
  const { domain, version, paths } = run;
  const permission: { verdict?: PermissionResult | undefined } = {};
  // A start that was made before the project or the permission went is found here all the same.
  const outcome = await context.callOnce(run.id, stepName(run), async () => {
    if (docs === undefined)
      throw createError('startExport', 'bad_request', { happened: 'no', what: 'no project' });
    permission.verdict = await recheckPermission(run, context);
    if (permission.verdict !== undefined && permission.verdict.kind !== 'allowed')
      throw createError('startExport', 'bad_request', { happened: 'no', what: 'not permitted' });
    return docs.startExport({ domain, version, paths });
  });
  switch (outcome.kind) {
    case 'done':
      return beginWatch(run, outcome.value, {}, context);
    case 'inFlight':
      return runAgainIn(outcome.forMs);
    case 'unknown':
      context.log.warn({ run: run.id, err: outcome.error }, 'a start without an answer');
      await addAudit(run, 'start unclear', context);
      return advance(run, { state: 'unknown' }, context);
    case 'notHappened':
      if (docs === undefined)
        return advance(run, endRun(run, { kind: 'notStarted', why: 'project' }, context.now()), context);
      if (permission.verdict?.kind === 'unknown')
        return runAgainIn(backoffMs(context.timing, 3, context.random()));
      if (permission.verdict?.kind === 'refused')
        return endNotPermitted(run, permission.verdict.ask, context);
      return handleStartError(run, outcome.error, context);
  }
}

/** Who waited for long may have lost the permission since. Before that, the check of the request itself still holds. */
async function recheckPermission(
  run: ExportRun,
  { policy, now, timing }: JobContext,
): Promise<PermissionResult | undefined> {
  const isOld = now() - run.attemptAtMs > timing.permissionCacheMs;
  return isOld ? policy.check(run.requester.id, 'export') : undefined;
}

async function endNotPermitted(run: ExportRun, ask: string[], context: JobContext): Promise<Outcome> {
  await addAudit(run, 'refused: not permitted', context);
  const reason = contactsText(ask, context.policy.isOpen('export'));
  return advance(run, endRun(run, { kind: 'notStarted', why: 'permission', reason }, context.now()), context);
}

const stepName = ({ attempt }: Pick<ExportRun, 'attempt'>) => `start.${attempt}`;

/** The platform answered, now or earlier: the job is found by its id from now on, and watched. */
async function beginWatch(run: ExportRun, job: ExportJob, changes: Partial<ExportRun>, context: JobContext) {
  await context.runs.alias(jobAlias(run.teamId, run.project, job.jobId), run.id);
  return advance(run, { ...startedChanges(run, job, context.now()), ...changes }, context);
}

/** Somebody wants it started again, but the answer to the start that was asked about has come: it did start. */
async function applyLateResult(run: ExportRun, context: JobContext): Promise<Outcome | undefined> {
  const { answer, attempt } = run;
  if (answer?.action !== 'startAgain' || answer.attempt !== attempt - 1) return undefined;
  const late = await context.steps.result(run.id, stepName(answer));
  return late && beginWatch(run, late.value as ExportJob, { answer: lateAnswer(answer) }, context);
}

const lateAnswer = ({ attempt }: Pick<ExportRun, 'attempt'>) =>
  ({ attempt, by: '', byId: '', action: 'late' }) as const;

function startedChanges(run: ExportRun, job: ExportJob, nowMs: number): Partial<ExportRun> {
  const times = { startedAtMs: nowMs, nextLookAtMs: nowMs };
  return { state: 'watching', jobId: job.jobId, ...times, ...snapshotChanges(run, job, nowMs) };
}

async function handleStartError(run: ExportRun, error: unknown, context: JobContext): Promise<Outcome> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return runAgainIn(0);
  const nowMs = context.now();
  const why = notStartedReason(error);
  if (error.retryable) {
    const trouble = troubleAfter(run, error, context);
    const maxWaitMs = error.retryAfterMs === undefined ? context.timing.giveUpMs : context.timing.limitWaitMs;
    if (trouble.nextMs <= run.attemptAtMs + maxWaitMs) return retryLater(run, trouble, context);
  }
  context.log.info({ run: run.id, why, err: error }, 'the platform did not start an export');
  const adminsTold = why === 'key' && (await context.alertAdmins(run.teamId, run.project));
  const reason = error.platformMessage;
  const details = { ...(reason !== undefined && { reason }), ...(adminsTold && { adminsTold }) };
  return advance(run, endRun(run, { kind: 'notStarted', why, ...details }, nowMs), context);
}

function notStartedReason(error: DocsApiError): Extract<Ending, { kind: 'notStarted' }>['why'] {
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

/** The question stands until a person answers it, or the answer of the platform comes late. */
export async function awaitAnswer(run: ExportRun, context: JobContext): Promise<Outcome> {
  const late = await context.steps.result(run.id, stepName(run));
  if (late !== undefined)
    return beginWatch(run, late.value as ExportJob, { answer: lateAnswer(run) }, context);
  await context.runs.markIdle(run, false);
  // One that was recorded meanwhile has listed the run before it was settled.
  if ((await context.steps.result(run.id, stepName(run))) === undefined) return done;
  await context.runs.wake(run.job, run.id);
  return runAgainIn(0);
}
