import { DocsApiError } from '../../docs-api/errors.ts';
import { failure } from '../../docs-api/failures.ts';
import type { ExportJob } from '../../docs-api/schemas.ts';
import type { Verdict } from '../../policy.ts';
import { backoffMs } from '../../runtime/timing.ts';
import { askWhom } from '../ask-whom.ts';
import { done, lookAgainIn, type Outcome } from '../job.ts';
import { advance, note, troubleAfter, waitOut } from './advance.ts';
import type { ExportContext } from './context.ts';
import { seen } from './poll-step.ts';
import { type Ending, type ExportRun, ended, jobAlias } from './record.ts';

/** Starts the export at the platform, once. */
export async function start(run: ExportRun, context: ExportContext): Promise<Outcome> {
  if (context.now() < run.nextLookAtMs) return lookAgainIn(run.nextLookAtMs - context.now());
  const late = await lateResult(run, context);
  if (late !== undefined) return late;
  const docs = context.docs(run.project);
  const { domain, version, paths } = run;
  const permission: { verdict?: Verdict | undefined } = {};
  // A start that was made before the project or the permission went is found here all the same.
  const outcome = await context.once(run.id, stepOf(run), async () => {
    if (docs === undefined)
      throw failure('startExport', 'bad_request', { happened: 'no', what: 'no project' });
    permission.verdict = await checkAgain(run, context);
    if (permission.verdict !== undefined && permission.verdict.kind !== 'allowed')
      throw failure('startExport', 'bad_request', { happened: 'no', what: 'not permitted' });
    return docs.startExport({ domain, version, paths });
  });
  switch (outcome.kind) {
    case 'done':
      return watch(run, outcome.value, {}, context);
    case 'inFlight':
      return lookAgainIn(outcome.forMs);
    case 'unknown':
      context.log.warn({ run: run.id, err: outcome.error }, 'a start without an answer');
      await note(run, 'start unclear', context);
      return advance(run, { state: 'unknown' }, context);
    case 'notHappened':
      if (docs === undefined)
        return advance(run, ended(run, { kind: 'notStarted', why: 'project' }, context.now()), context);
      if (permission.verdict?.kind === 'unknown')
        return lookAgainIn(backoffMs(context.timing, 3, context.random()));
      if (permission.verdict?.kind === 'refused') return notPermitted(run, permission.verdict.ask, context);
      return notStarted(run, outcome.error, context);
  }
}

/** Who waited for long may have lost the permission since. Before that, the check of the request itself still holds. */
async function checkAgain(
  run: ExportRun,
  { policy, now, timing }: ExportContext,
): Promise<Verdict | undefined> {
  const isOld = now() - run.attemptAtMs > timing.permissionCacheMs;
  return isOld ? policy.check(run.requester.id, 'export') : undefined;
}

async function notPermitted(run: ExportRun, ask: string[], context: ExportContext): Promise<Outcome> {
  await note(run, 'refused: not permitted', context);
  const reason = askWhom(ask, context.policy.open('export'));
  return advance(run, ended(run, { kind: 'notStarted', why: 'permission', reason }, context.now()), context);
}

const stepOf = ({ attempt }: Pick<ExportRun, 'attempt'>) => `start.${attempt}`;

/** The platform answered, now or earlier: the job is found by its id from now on, and watched. */
async function watch(run: ExportRun, job: ExportJob, changes: Partial<ExportRun>, context: ExportContext) {
  await context.runs.alias(jobAlias(run.teamId, run.project, job.jobId), run.id);
  return advance(run, { ...started(run, job, context.now()), ...changes }, context);
}

/** Somebody wants it started again, but the answer to the start that was asked about has come: it did start. */
async function lateResult(run: ExportRun, context: ExportContext): Promise<Outcome | undefined> {
  const { answer, attempt } = run;
  if (answer?.action !== 'startAgain' || answer.attempt !== attempt - 1) return undefined;
  const late = await context.steps.result(run.id, stepOf(answer));
  return late && watch(run, late.value as ExportJob, { answer: lateAnswer(answer) }, context);
}

const lateAnswer = ({ attempt }: Pick<ExportRun, 'attempt'>) =>
  ({ attempt, by: '', byId: '', action: 'late' }) as const;

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
  context.log.info({ run: run.id, why, err: error }, 'the platform did not start an export');
  const adminsTold = why === 'key' && (await context.tellAdmins(run.teamId, run.project));
  const reason = error.platformMessage;
  const said = { ...(reason !== undefined && { reason }), ...(adminsTold && { adminsTold }) };
  return advance(run, ended(run, { kind: 'notStarted', why, ...said }, nowMs), context);
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

/** The question stands until a person answers it, or the answer of the platform comes late. */
export async function ask(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const late = await context.steps.result(run.id, stepOf(run));
  if (late !== undefined) return watch(run, late.value as ExportJob, { answer: lateAnswer(run) }, context);
  await context.runs.settle(run, false);
  // One that was recorded meanwhile has listed the run before it was settled.
  if ((await context.steps.result(run.id, stepOf(run))) === undefined) return done;
  await context.runs.wake(run.job, run.id);
  return lookAgainIn(0);
}
