import type { DocsApi } from '../../docs-api/client.ts';
import type { DocsApiError } from '../../docs-api/errors.ts';
import type { RunBase } from '../../store/runs.ts';
import type { JobContext } from '../engine/context.ts';
import { type StepResult, save } from '../engine/job.ts';
import { nextPollMs, type PollFailure, type PollKind, pollJob } from '../engine/polling.ts';

interface Polled extends RunBase {
  project: string;
  sinceMs: number;
  startedAtMs?: number | undefined;
  nextPollAtMs: number;
  pollFailure?: PollFailure | undefined;
  pollRequested?: boolean | undefined;
  fraction?: number | undefined;
  movedAtMs?: number | undefined;
}

type Result<R> = Promise<StepResult<R>> | StepResult<R>;

interface PollDefinition<R, Job> {
  kind: PollKind;
  get(run: R, docs: DocsApi, signal: AbortSignal): Promise<Job>;
  /** The platform has answered. */
  seen(run: R, job: Job, context: JobContext): Result<R>;
  /** The platform does not know it, however often it is asked. */
  lost(run: R, context: JobContext): Result<R>;
  /** It has been watched for long enough. */
  gaveUp(run: R, afterMs: number, context: JobContext): Result<R>;
  /** A failure that is not to be retried; undefined for others. */
  failed?(
    run: R,
    error: DocsApiError | undefined,
    isLost: boolean,
    context: JobContext,
  ): Result<R> | undefined;
}

/** Consecutive "not found" answers before something counts as lost: a new one may not be known everywhere at once. */
const LOST_AFTER = 3;

/** Polls something at the platform to its end. The watch ends some hours after it began, even if polls fail. */
export function definePoll<R extends Polled, Job>(definition: PollDefinition<R, Job>) {
  const { kind, get, seen, lost, gaveUp, failed } = definition;

  const once = (run: R, context: JobContext) =>
    pollJob(
      run,
      kind,
      context.platform.docs(run.project),
      (docs) => get(run, docs, context.stopping),
      context,
    );

  return {
    once,

    async poll(run: R, context: JobContext): Promise<StepResult<R>> {
      const { now, timing } = context;
      const endsAtMs = run.sinceMs + timing.watchMs;
      if (now() >= endsAtMs) return gaveUp(run, now() - run.sinceMs, context);
      const polled = await once(run, context);
      if ('job' in polled) return seen(run, polled.job, context);
      const { failure, error } = polled;
      const isLost = failure.kind === 'lost' && failure.inARow >= LOST_AFTER;
      const ended = failed?.(run, error, isLost, context) ?? (isLost ? lost(run, context) : undefined);
      if (ended) return ended;
      return retryAt(run, { ...failure, nextMs: Math.min(failure.nextMs, endsAtMs) }, context);
    },
  };
}

/** Plans the next poll of what runs. */
export function pollLater<R extends Polled>(run: R, { now, timing, random }: JobContext) {
  const { sinceMs, startedAtMs = sinceMs, fraction, movedAtMs } = run;
  const inMs = nextPollMs({ startedAtMs, fraction, movedAtMs }, now(), timing, random());
  return save({ ...run, nextPollAtMs: now() + inMs }, { inMs });
}

/** Saves a failure, after which the step is tried again. */
export const retryAt = <R extends Polled>(run: R, failure: PollFailure, { now }: JobContext) =>
  save({ ...run, pollFailure: failure, nextPollAtMs: failure.nextMs }, { inMs: failure.nextMs - now() });
