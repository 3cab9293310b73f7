import { ReplyError } from 'ioredis';
import { z } from 'zod';
import { mayAct, type Viewer, type VisibleKind } from '../jobs/visibility.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Log } from '../runtime/log.ts';
import { logScope } from '../runtime/log-scope.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { message } from '../slack/blocks.ts';
import type { ConversationReaders } from '../slack/conversation-readers.ts';
import type { ThreadPlace } from '../store/closed-threads.ts';
import type { Acceptance, Quota, RunBase, RunStore } from '../store/runs.ts';
import type { InboxEntry, ThreadStore } from '../store/threads.ts';
import { UserFacingError } from './user-facing-error.ts';
import type { Waker, WokenRun } from './waker.ts';

/** When a request came in, and where its answers go. */
interface IntakeRequest {
  responseUrl: string | undefined;
  receivedAtMs: number;
}

/** A run that a request names: `notVisible` is one that this person may not see. */
export type LoadedRun<R> = { kind: 'found'; run: R } | { kind: 'notFound' } | { kind: 'notVisible' };

export interface IntakeParts {
  runs: RunStore;
  readers: ConversationReaders;
  threads: Pick<ThreadStore, 'appendToInbox' | 'followedIndex' | 'isClosed'>;
  wake: Waker['wake'];
  /** From the receipt of a request to the moment a write is refused, and how long a claim lasts at most. */
  timeoutMs: number;
  claimMs: number;
  monotonicMs: () => number;
  metrics: Pick<Metrics, 'refusals'>;
  log: Log;
}

const storeUnavailable = message([
  ["I can't keep track of work right now, so I start nothing I might lose. Try again in a minute."],
]);

const outcomeUnknown = message([
  [
    "My database stopped answering, so I can't tell whether I accepted this. If nothing appears here within a minute, try again.",
  ],
]);

/**
 * Returns where requests that are answered become runs; events, which nobody answers, go straight to the stores. What is
 * refused has not happened and will not. When it is in doubt whether something was kept, the person reads so, and it
 * goes on if it was. Both come as `UserFacingError`.
 */
export function createIntake(parts: IntakeParts) {
  const { runs, threads, readers, wake, timeoutMs, claimMs, monotonicMs, metrics, log } = parts;
  const remainingMs = ({ receivedAtMs }: IntakeRequest) => receivedAtMs + timeoutMs - monotonicMs();

  /** `write` gets a deadline on Redis' own clock, so that a Redis that wakes up late refuses by itself. */
  async function withDeadline<T>(
    run: WokenRun,
    request: IntakeRequest,
    write: (deadlineMs: number) => Promise<T>,
  ): Promise<T> {
    const scope = logScope();
    if (scope !== undefined) scope.run = run.id;
    // An answer also shows that Redis is there, before anything is sent that could be in doubt.
    const redisNowMs = await readInTime(runs.timeMs(), request);
    const deadlineMs = redisNowMs + remainingMs(request);
    return withTimeout(remainingMs(request), write(deadlineMs)).catch((error: unknown) => {
      if (error instanceof ReplyError) throw refusedError(error);
      metrics.refusals.add({ reason: 'in_doubt' });
      log.warn({ err: error, run: run.id }, 'request outcome unknown: no reply from Redis');
      wake(run);
      throw new UserFacingError(outcomeUnknown);
    });
  }

  async function acceptRun(
    run: RunBase,
    request: IntakeRequest,
    write: (deadlineMs: number) => Promise<Acceptance>,
  ): Promise<Acceptance> {
    const result = await withDeadline(run, request, write);
    if (result.kind === 'late') throw lateError();
    if (result.kind === 'accepted' || result.kind === 'repeated') wake(run);
    return result;
  }

  async function readInTime<T>(result: Promise<T>, request: IntakeRequest): Promise<T> {
    try {
      return await withTimeout(remainingMs(request), result);
    } catch (error) {
      // A damaged record stays damaged: it is an internal error.
      throw error instanceof z.ZodError ? error : refusedError(error);
    }
  }

  function refusedError(error: unknown): UserFacingError {
    metrics.refusals.add({ reason: 'redis' });
    log.warn({ err: error }, 'a request was refused: Redis did not take it');
    return new UserFacingError(storeUnavailable);
  }

  const lateError = () => refusedError(new Error('Redis came to it too late'));

  return {
    /** Keeps a new run and queues it. */
    start: (run: RunBase, request: IntakeRequest, quotas?: readonly Quota[]) =>
      acceptRun(run, request, (deadlineMs) =>
        runs.accept(run, deadlineMs, claimMs, request.responseUrl, quotas),
      ),

    /**
     * The same for a run that a person changed; it carries the revision that was read. With `claims` it keeps others
     * from starting the same, as a start does. With a `responseUrl`, answers go to this person from now on.
     */
    resume: (
      run: RunBase,
      request: IntakeRequest,
      claims: boolean,
      quotas?: readonly Quota[],
      responseUrl?: string,
    ) =>
      acceptRun(run, request, (deadlineMs) =>
        runs.resume(run, deadlineMs, claims ? claimMs : 0, quotas, responseUrl),
      ),

    /** Adds an event to the inbox of a run, unless it is a repeat, and wakes the run. `gone`: there is no such run. */
    async appendToInbox(job: string, runId: string, what: InboxEntry, request: IntakeRequest) {
      const run = { job, id: runId };
      const result = await withDeadline(run, request, (deadlineMs) =>
        threads.appendToInbox(job, runId, what, deadlineMs),
      );
      if (result === 'late') throw lateError();
      if (result !== 'gone') wake(run);
      return result;
    },

    /** Whether nothing instructs the agent in this thread, such as that of a digest. */
    isClosed: (place: ThreadPlace, request: IntakeRequest) => readInTime(threads.isClosed(place), request),

    /** The run that has this further name. */
    byAlias: (name: string, request: IntakeRequest) => readInTime(runs.byAlias(name), request),

    /** The entries of the index of followed threads as they are stored, the latest first. */
    followedIndex: (teamId: string, request: IntakeRequest) =>
      readInTime(threads.followedIndex(teamId), request),

    /** What is listed of followed threads, the latest first; without damaged entries. */
    async listFollowed<T>(teamId: string, schema: z.ZodType<T>, request: IntakeRequest): Promise<T[]> {
      const listed = await readInTime(threads.followedIndex(teamId), request);
      return listed.flatMap((entry) => {
        const known = schema.safeParse(entry);
        return known.success ? [known.data] : [];
      });
    },

    /** Reads runs, in the order of their ids; without those that are gone or damaged. */
    loadAll: <R extends RunBase>(runIds: readonly string[], schema: z.ZodType<R>, request: IntakeRequest) =>
      readInTime(runs.loadAll(runIds, schema), request),

    /** The runs of a job that a worker has to step, oldest first. Damaged ones are left out. */
    listActive: <R extends RunBase>(schema: z.ZodType<R>, job: string, request: IntakeRequest) =>
      readInTime(runs.activeOf(schema, job), request),

    /** Some runs of a job that are at work, first those of these quotas; see `RunStore.someOf`. */
    listSome: <R extends RunBase>(
      schema: z.ZodType<R>,
      job: string,
      quotas: readonly string[],
      max: number,
      request: IntakeRequest,
    ) => readInTime(runs.someOf(schema, job, quotas, max), request),

    /** The latest runs that concern whoever asks, of those that can be read. */
    listOfPerson: <R extends RunBase>(
      schema: z.ZodType<R>,
      request: IntakeRequest & { teamId: string; user: { id: string } },
    ) =>
      readInTime(
        runs.ofPerson(request.teamId, request.user.id).then((ids) => runs.loadAll(ids, schema)),
        request,
      ),

    /** Loads a run by an id that we worked out ourselves, or that a write of ours named; never by one from a request. */
    loadKnown: <R extends RunBase>(runId: string, schema: z.ZodType<R>, request: IntakeRequest) =>
      readInTime(runs.load(runId, schema), request),

    /** Loads the run that a button or a form names, for somebody who may see it. */
    async loadVisible<R extends RunBase>(
      runId: string,
      { record, visible }: VisibleKind<R>,
      caller: IntakeRequest & Viewer & { teamId: string },
    ): Promise<LoadedRun<R>> {
      const run = await readInTime(runs.load(runId, record), caller);
      if (run?.teamId !== caller.teamId) return { kind: 'notFound' };
      return (await mayAct(visible(run), caller, readers)) ? { kind: 'found', run } : { kind: 'notVisible' };
    },
  };
}
