import { DocsApiError } from '../../docs-api/errors.ts';
import { Later } from '../../runtime/later.ts';
import { notMade } from '../../store/call-once.ts';
import type { RunBase } from '../../store/runs.ts';
import type { JobContext } from '../engine/context.ts';
import { idleWithClaim, type StepResult, save } from '../engine/job.ts';
import { nextFailure, type PollFailure } from '../engine/polling.ts';
import { type StartAnswer, startStep } from './record.ts';

/** Why something may not be started now. */
export type NotAllowed = { why: 'project' } | { why: 'permission'; contacts: string };

/** The call that starts something. It throws without a call once `isTooLate` is true. */
type StartCall<Started> = (isTooLate: () => boolean) => Promise<Started>;

type Startable = RunBase & { attempt: number; by: StartAnswer['by']; answer?: StartAnswer | undefined };

interface StartDefinition<R, Started> {
  /** The time limit of the call. */
  limitMs(context: JobContext): number;
  /** Returns the call, or why it may not be made: the settings and permissions may have changed since the request. */
  prepare(run: R, context: JobContext): Promise<StartCall<Started> | NotAllowed>;
  /** It has started. */
  started(run: R, started: Started, context: JobContext): Promise<StepResult<R>> | StepResult<R>;
  /** Nobody knows whether it has: returns the run in its state `unknown`. */
  unclear(run: R, error: unknown, context: JobContext): R;
  notAllowed(run: R, why: NotAllowed, context: JobContext): Promise<StepResult<R>> | StepResult<R>;
  /** It has certainly not started, because of this error. */
  refused(run: R, error: Error, context: JobContext): Promise<StepResult<R>>;
}

/** Steps that start something outside at most once for each attempt, even after a crash. */
export function defineStart<R extends Startable, Started>(definition: StartDefinition<R, Started>) {
  const { limitMs, prepare, started, unclear, notAllowed, refused } = definition;

  /** Goes on with the other side's answer to the start of that attempt; undefined while there is none. */
  async function late(run: R, attempt: number, context: JobContext): Promise<StepResult<R> | undefined> {
    const found = await context.calls.callResult(run.id, startStep({ attempt }));
    if (found === undefined) return undefined;
    const answer = { attempt, by: { id: run.by.id, name: run.by.name }, action: 'late' as const };
    return started({ ...run, answer }, found.result as Started, context);
  }

  return {
    late,

    /** Makes the call, once. */
    async start(run: R, context: JobContext): Promise<StepResult<R>> {
      // A person chose to start again while it was unclear whether the start before had happened.
      const isAgain = run.answer?.action === 'startAgain' && run.answer.attempt === run.attempt - 1;
      const before = isAgain ? await late(run, run.attempt - 1, context) : undefined;
      if (before) return before;
      const call = await prepare(run, context);
      const { calls } = context;
      // An earlier start is found even if none may be made any more.
      const outcome = await calls.callOnce(run, startStep(run), limitMs(context), async (isTooLate) =>
        typeof call === 'function' ? call(isTooLate) : notMade,
      );
      switch (outcome.kind) {
        case 'done':
          return started(run, outcome.value, context);
        case 'inFlight':
          throw new Later(outcome.forMs);
        case 'unknown':
          return save(unclear(run, outcome.error, context), { audit: 'start unclear' });
        case 'notMade':
          return notAllowed(run, call as NotAllowed, context);
        case 'notHappened':
          return refused(run, outcome.error as Error, context);
      }
    },

    /** Waits until a person answers the question, or the other side's late answer arrives, which wakes the run. */
    awaitAnswer: async (run: R, context: JobContext): Promise<StepResult<R>> =>
      (await late(run, run.attempt, context)) ?? idleWithClaim,
  };
}

/** How long a call that failed is tried again, from the start of the state; in milliseconds. */
export interface Patience {
  giveUpMs: number;
  /** If the platform says when to try again. */
  limitWaitMs: number;
  /** If the platform says that it has trouble itself. A failure of another kind keeps to that time. */
  troubleMs?: number;
  /** Tries again after these kinds of errors, too. */
  also?: DocsApiError['kind'];
}

/** Returns the failure after which a call is tried again; undefined if it is not. Throws what is no answer of the platform. */
export function nextTry(
  { sinceMs, pollFailure }: { sinceMs: number; pollFailure?: PollFailure | undefined },
  error: unknown,
  { giveUpMs, limitWaitMs, troubleMs, also }: Patience,
  context: JobContext,
): PollFailure | undefined {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') throw new Later(0);
  const failure = nextFailure(pollFailure, error, context);
  const hasTrouble = troubleMs !== undefined && error.kind === 'server';
  const untilMs = hasTrouble ? sinceMs + troubleMs : pollFailure?.untilMs;
  const usualMs = sinceMs + (error.retryAfterMs === undefined ? giveUpMs : limitWaitMs);
  const lastMs = Math.max(untilMs ?? 0, hasTrouble ? 0 : usualMs);
  const isRetryable = error.retryable || error.kind === also;
  return isRetryable && failure.nextMs <= lastMs ? { ...failure, untilMs } : undefined;
}

/** Why the platform certainly did not start something, by the kind of its error. */
const REASONS = {
  bad_request: 'domain',
  forbidden: 'plan',
  key_rejected: 'key',
  rate_limited: 'limit',
  refused: 'down',
  server: 'down',
} as const;

/** Returns why it did not start, the platform's own words, and whether the admins were alerted. */
export async function refusalOf(
  { teamId, project }: { teamId: string; project: string },
  error: DocsApiError,
  { platform }: JobContext,
) {
  const why = REASONS[error.kind as keyof typeof REASONS] ?? ('other' as const);
  const needsOperator = why === 'key' || why === 'plan';
  const adminsAlerted = needsOperator && (await platform.alertAdmins(teamId, project, error));
  return { why, reason: error.platformMessage, adminsAlerted };
}
