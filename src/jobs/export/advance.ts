import type { DocsApiError } from '../../docs-api/errors.ts';
import { backoffMs } from '../../runtime/timing.ts';
import type { JobContext } from '../context.ts';
import { done, type Outcome, runAgainIn } from '../job.ts';
import { site } from './phrases.ts';
import type { ExportRun, Trouble } from './record.ts';
import { exportMessages } from './view.ts';

/** How often a job is looked at while an operator has to act: the key is refused, or the project is gone. */
export const OPERATOR_RETRY_MS = 60_000;

/** Saves the next state and goes on with it at once, or after `inMs`. */
export async function advance(
  run: ExportRun,
  changes: Partial<ExportRun>,
  context: JobContext,
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
  if (inMs > 0) await publishMessages(saved, context);
  return runAgainIn(inMs);
}

export async function publishMessages(run: ExportRun, { outbox }: JobContext) {
  for (const message of exportMessages(run))
    await outbox.publish(run.teamId, { by: run.requester.id, ...message }, run.rev);
}

/** The trouble of a run after one more failed call. It ends when the platform says, or after ever longer pauses. */
export function troubleAfter(
  run: ExportRun,
  error: DocsApiError,
  { now, random, timing }: JobContext,
): Trouble {
  const kind = troubleKindOf(error);
  const inARow = run.trouble?.kind === kind ? run.trouble.inARow + 1 : 1;
  const needsOperator = kind === 'key' || kind === 'forbidden';
  const pauseMs = needsOperator ? OPERATOR_RETRY_MS : backoffMs(timing, inARow, random());
  return { kind, inARow, nextMs: now() + Math.max(error.retryAfterMs ?? 0, pauseMs) };
}

/** Tells of the trouble and tries the same step again when its time has come. */
export function retryLater(run: ExportRun, trouble: Trouble, context: JobContext): Promise<Outcome> {
  return advance(run, { trouble, nextLookAtMs: trouble.nextMs }, context, trouble.nextMs - context.now());
}

function troubleKindOf(error: DocsApiError): Trouble['kind'] {
  if (error.kind === 'key_rejected') return 'key';
  if (error.kind === 'forbidden') return 'forbidden';
  if (error.kind === 'rate_limited') return 'limit';
  return error.kind === 'not_found' ? 'lost' : 'down';
}

/** Before the step that it tells of is saved: after a crash it may stand twice in the audit log, but is never missing. */
export async function addAudit(run: ExportRun, result: string, { audit, now }: JobContext) {
  const { requester: user, asked, jobId } = run;
  const line = { atMs: now(), user, channel: asked.channel, what: 'export', subject: site(run), result };
  await audit.add(run.teamId, { ...line, ...(jobId !== undefined && { job: jobId }) });
}
