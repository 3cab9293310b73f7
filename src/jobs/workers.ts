import type { Job as BullJob } from 'bullmq';
import { DelayedError } from 'bullmq/dist/cjs/classes/errors/delayed-error.js';
import { Worker } from 'bullmq/dist/cjs/classes/worker.js';
import type { Metrics, StepOutcome } from '../metrics/metrics.ts';
import type { Log } from '../runtime/log.ts';
import { inLogScope, type LogScope, logScope } from '../runtime/log-scope.ts';
import { Stopping } from '../runtime/stopping.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { TimeLimitError, withTimeout } from '../runtime/with-timeout.ts';
import { createDueStore, type DueEntry } from '../store/due.ts';
import { createJobErrorStore } from '../store/job-errors.ts';
import { PREFIX } from '../store/keys.ts';
import { shortenLocks } from '../store/queue-locks.ts';
import type { RedisClient } from '../store/redis/client.ts';
import { dueEntryOf, type Job } from './job.ts';
import { promoteJob, type QueueTelemetry, subjectIdOf } from './queue.ts';

/** Consecutive unexpected errors, or crashes of the process, after which a job counts as poison. */
const POISON_ERRORS = 8;
const POISON_STALLS = 20;

/** Time limit for handing back unfinished jobs. */
const HAND_BACK_MS = 500;

/** Jobs with longer waits are stepped more than once. A later due time was planned before a clock was set back. */
export const LONGEST_PAUSE_MS = 30_000;

export type Workers = ReturnType<typeof createWorkers>;

export interface WorkerParts<Context> {
  // biome-ignore lint/suspicious/noExplicitAny: the registry mixes jobs with different data; each parses its own
  jobs: readonly Job<any, Context>[];
  context: Context;
  /** Its commands wait while Redis is away; the workers duplicate it. */
  connection: RedisClient;
  /** Once it is aborted, no job is taken, and each running one is handed back before its next outside call. */
  stopping: AbortSignal;
  /** Returns for how many milliseconds only messages to Slack are delivered; never rejects. */
  pausedForMs: () => Promise<number>;
  /** Creates a short reference for people and the log. */
  newRef: () => string;
  timing: Timing;
  /** No job is taken before it resolves: steps need the time. */
  ready: Promise<unknown>;
  telemetry?: QueueTelemetry | undefined;
  metrics: Pick<Metrics, 'steps' | 'givenUp' | 'retries' | 'locksLost' | 'stalled'>;
  log: Log;
  onError: (error: Error) => void;
}

/** Calls it after all pending microtasks. */
const afterMicrotasks = <T>(call: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    process.nextTick(() => call().then(resolve, reject));
  });

/** One BullMQ worker per queue. A job with a later step is moved to delayed, which frees the worker. */
export function createWorkers<Context>(parts: WorkerParts<Context>) {
  const {
    jobs,
    context,
    connection,
    stopping,
    pausedForMs,
    newRef,
    timing,
    ready,
    telemetry,
    metrics,
    log,
    onError,
  } = parts;
  const jobErrors = createJobErrorStore(connection);
  const due = createDueStore(connection);
  /** Jobs that failed here since their last good step. */
  const failing = new Set<string>();
  /** Functions that hand back each running job, whether it has ended or not. */
  const atWork = new Set<() => Promise<unknown>>();

  /** Log lines of this execution carry the reference of the original request. */
  async function execute(definition: Job<unknown, Context>, bullJob: BullJob, token: string | undefined) {
    await ready;
    const entry = dueEntryOf(definition.list, definition.name, subjectIdOf(bullJob));
    const scope: LogScope = {};
    if (entry?.runId !== undefined) scope.run = entry.runId;
    // Not awaited: Redis answers in order, so the result comes before the step's load.
    const begun = entry && due.begin(entry);
    if (begun === undefined) scope.ref = newRef();
    begun
      ?.then(({ ref = newRef() }) => {
        scope.ref = ref;
      })
      .catch(() => {});
    const requeue = requeueAfter(bullJob, token, entry, begun);
    const handBack = () => requeue(0).catch(() => {});
    atWork.add(handBack);
    try {
      return await inLogScope(scope, () => step(definition, bullJob, requeue));
    } finally {
      atWork.delete(handBack);
    }
  }

  async function step(
    definition: Job<unknown, Context>,
    bullJob: BullJob,
    requeue: (waitMs: number) => Promise<never>,
  ) {
    const startedMs = performance.now();
    const report = (outcome: StepOutcome) =>
      metrics.steps.observe({ job: definition.name, outcome }, performance.now() - startedMs);
    const handBack = (waitMs: number) => {
      report('handed_back');
      return requeue(waitMs);
    };
    if (stopping.aborted) return handBack(0);
    const pauseMs = definition.queue === 'slack-outbox' ? 0 : await pausedForMs();
    if (pauseMs > 0) return handBack(pauseMs);
    const data = definition.data.parse(bullJob.data);
    if (bullJob.stalledCounter > POISON_STALLS) {
      report('gave_up');
      return giveUp(definition, data, `stalled ${bullJob.stalledCounter} times`);
    }
    // Per subject: a wake replaces a delayed BullMQ job.
    const name = `${definition.name}:${subjectIdOf(bullJob)}`;
    let waitMs: number;
    try {
      const outcome = await definition.run(data, context);
      report(outcome.kind);
      if (failing.delete(name)) await jobErrors.clear(name);
      if (outcome.kind === 'done') return;
      waitMs = outcome.inMs;
    } catch (error) {
      if (error instanceof Stopping) return handBack(0);
      const errors = await jobErrors.add(name);
      failing.add(name);
      // It is retried; only giving up is an error.
      log.warn({ err: error, job: definition.name, data, errors }, 'job failed, will retry');
      if (errors >= POISON_ERRORS && failing.delete(name)) {
        report('gave_up');
        return giveUp(definition, data, error);
      }
      report('broke');
      metrics.retries.add({ of: 'job' });
      waitMs = backoffMs(timing, errors, 0.5);
    }
    return requeue(waitMs);
  }

  async function giveUp(definition: Job<unknown, Context>, data: unknown, reason: unknown) {
    const ref = logScope()?.ref ?? newRef();
    metrics.givenUp.add({ job: definition.name });
    log.error({ err: reason, job: definition.name, data, ref }, 'gave up on a job');
    await definition.giveUp?.(data, context, ref);
  }

  /**
   * Returns how the job is handed back after a step: delayed, unless its subject was woken since it had `begun`. A
   * later wake finds it delayed and runs it.
   */
  function requeueAfter(
    bullJob: BullJob,
    token: string | undefined,
    entry?: DueEntry,
    begun?: Promise<{ wakes: number }>,
  ) {
    return async (waitMs: number): Promise<never> => {
      const pauseMs = Math.min(waitMs, LONGEST_PAUSE_MS);
      const wakes = (await begun)?.wakes;
      const moved = bullJob.moveToDelayed(Date.now() + pauseMs, token);
      if (entry && wakes !== undefined) {
        // Sent right after it on the same connection: Redis runs it second, and both share one wait.
        const postponed = afterMicrotasks(() => due.postpone(entry, pauseMs, wakes));
        const [isPostponed] = await Promise.all([postponed, moved]);
        if (!isPostponed) await promoteJob(bullJob);
      }
      await moved;
      throw new DelayedError();
    };
  }

  const queues = [...new Set(jobs.map(({ queue }) => queue))];
  const workers = queues.map((queue) => {
    const queueJobs = jobs.filter((definition) => definition.queue === queue);
    const process = async (bullJob: BullJob, token: string | undefined) => {
      const definition = queueJobs.find(({ name }) => name === bullJob.name);
      if (definition === undefined) throw new Error(`no job is called ${bullJob.name}`);
      return execute(definition, bullJob, token);
    };
    const worker = new Worker(queue, process, {
      connection,
      prefix: PREFIX,
      concurrency: Math.max(...queueJobs.map(({ concurrency }) => concurrency)),
      lockDuration: timing.lockMs,
      stalledInterval: timing.stalledMs,
      // A lifetime count in BullMQ: its default of 1 would fail a healthy job at the second crash of a process.
      maxStalledCount: 1000,
      ...(telemetry && { telemetry }),
    });
    worker.on('error', onError);
    worker.on('failed', (job, error) => log.error({ err: error, job: job?.name }, 'a job failed for good'));
    worker.on('lockRenewalFailed', (jobIds) => metrics.locksLost.add({ queue }, jobIds.length));
    worker.on('stalled', () => metrics.stalled.add({ queue }));
    return worker;
  });

  const close = () => Promise.all(workers.map((worker) => worker.close()));
  let stoppedAtMs: number | undefined;
  stopping.addEventListener('abort', () => {
    stoppedAtMs = performance.now();
    void close().catch(onError);
  });

  return {
    /** Lets jobs with lost locks be found in time, even if Redis' clock was ahead. */
    shortenLocks: () => Promise.all(queues.map((queue) => shortenLocks(connection, queue, timing))),
    /**
     * Waits until running jobs are handed back, at most until `graceMs` after the stop; none is taken any more. Jobs
     * with an open call are then handed back as well: the next process finds the intent written before the call, and
     * waits as after a crash.
     */
    async close(graceMs: number) {
      const sinceStopMs = performance.now() - (stoppedAtMs ?? performance.now());
      try {
        await withTimeout(graceMs - sinceStopMs, close());
      } catch (error) {
        if (!(error instanceof TimeLimitError)) throw error;
        log.warn({ jobs: atWork.size }, 'calls had no answer in time; another process takes their jobs over');
        await withTimeout(HAND_BACK_MS, Promise.all([...atWork].map((handBack) => handBack())));
      }
    },
  };
}
