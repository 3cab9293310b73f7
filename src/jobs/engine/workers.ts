import type { Job as BullJob } from 'bullmq';
import { DelayedError } from 'bullmq/dist/cjs/classes/errors/delayed-error.js';
import { Worker } from 'bullmq/dist/cjs/classes/worker.js';
import type { Metrics, StepOutcome } from '../../metrics/metrics.ts';
import { type Wait, wait } from '../../runtime/later.ts';
import { inLogScope, type Log, type LogScope } from '../../runtime/log.ts';
import { repeat, Stopping } from '../../runtime/stopping.ts';
import { backoffMs, type Timing } from '../../runtime/timing.ts';
import { TimeLimitError, withTimeout } from '../../runtime/with-timeout.ts';
import { createDueStore, type DueStore } from '../../store/due.ts';
import { PREFIX } from '../../store/keys.ts';
import { type RedisClient, refusalOf } from '../../store/redis/client.ts';
import type { RunRef } from '../../store/run-scripts.ts';
import { type Job, runOnce } from './job.ts';
import type { QueueTelemetry } from './queue.ts';

/** Consecutive unexpected errors, or crashes of the process, after which a job counts as poison. */
const POISON_ERRORS = 8;
const POISON_STALLS = 20;

/** Time limit for handing back unfinished jobs. */
const HAND_BACK_MS = 500;

/** Jobs with longer waits are stepped more than once. A later due time was planned before a clock was set back. */
const LONGEST_PAUSE_MS = 30_000;

/** What the jobs of one workspace use. */
interface WorkspaceWork<Context> {
  context: Context;
  /** Returns for how many milliseconds only messages to Slack are delivered; never rejects. */
  pausedForMs: () => Promise<number>;
}

interface WorkerParts<Context> {
  jobs: readonly Job<Context>[];
  /** Returns the workspace of a team; undefined if none is known to have it. A run without a record has no team. */
  workspaceOf: (teamId: string | undefined) => WorkspaceWork<Context> | undefined;
  /** Its commands wait while Redis is away; the workers duplicate it. */
  connection: RedisClient;
  /** Once it is aborted, no job is taken, and each running one is handed back before its next outside call. */
  stopping: AbortSignal;
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

/** One BullMQ worker per queue. A job with a later step is moved to delayed, which frees the worker. */
export function createWorkers<Context>(parts: WorkerParts<Context>) {
  const { jobs, workspaceOf, connection, stopping, newRef, timing, metrics, log, onError } = parts;
  const due = createDueStore(connection);
  /** Consecutive unexpected errors of jobs here. Another process counts its own. */
  const errorsOf = new Map<string, number>();
  /** Functions that hand back each running job, whether it has ended or not. */
  const atWork = new Set<() => Promise<unknown>>();

  /** Log lines of this execution carry the reference of the original request. */
  async function execute(definition: Job<Context>, bullJob: BullJob, token: string | undefined) {
    await parts.ready;
    const { name: job, queue } = definition;
    const { id } = bullJob.data;
    const { wakes, ref = newRef(), teamId = definition.teamOf?.(id) } = await due.begin({ job, id });

    /** Delays the job, unless its subject was woken since it began. A later wake finds it delayed and runs it. */
    async function requeue({ inMs }: Wait): Promise<never> {
      const pauseMs = Math.min(inMs, LONGEST_PAUSE_MS);
      await bullJob.moveToDelayed(Date.now() + pauseMs, token);
      const isWoken = !(await due.postpone({ job, id }, pauseMs, wakes));
      // The wake may have run or replaced it already; otherwise the sweeper comes.
      if (isWoken) await bullJob.promote().catch(() => {});
      throw new DelayedError();
    }

    const handBack = () => requeue(wait(0)).catch(() => {});
    atWork.add(handBack);
    const scope: LogScope = { ref, ...(queue !== 'slack-outbox' && { run: id }) };
    const workspace = workspaceOf(teamId);
    try {
      const next = workspace
        ? await inLogScope(scope, () => step(definition, bullJob, workspace, ref))
        : wait(timing.retryMaxMs);
      if (next !== undefined) await requeue(next);
    } finally {
      atWork.delete(handBack);
    }
  }

  /** Runs one step. Returns when the next one is due; undefined if the job is done. */
  async function step(
    definition: Job<Context>,
    bullJob: BullJob,
    { context, pausedForMs }: WorkspaceWork<Context>,
    ref: string,
  ): Promise<Wait | undefined> {
    const startedMs = performance.now();
    const report = (outcome: StepOutcome) =>
      metrics.steps.observe({ job: definition.name, outcome }, performance.now() - startedMs);
    const pauseMs = definition.queue === 'slack-outbox' ? 0 : await pausedForMs();
    if (stopping.aborted || pauseMs > 0) {
      report('handed_back');
      return wait(stopping.aborted ? 0 : pauseMs);
    }
    const { id } = bullJob.data;
    // Per subject: a wake replaces a delayed BullMQ job.
    const name = `${definition.name}:${id}`;
    const giveUp = async (reason: unknown) => {
      report('gave_up');
      metrics.givenUp.add({ job: definition.name });
      log.error({ err: reason, job: definition.name, id, ref }, 'gave up on a job');
      // The steps that show the ending have tries of their own.
      errorsOf.delete(name);
      await definition.giveUp?.(id, context, ref);
      return undefined;
    };
    if (bullJob.stalledCounter > POISON_STALLS) return giveUp(`stalled ${bullJob.stalledCounter} times`);
    try {
      const next = await runOnce(definition, id, context);
      report(next === undefined ? 'done' : 'again');
      errorsOf.delete(name);
      return next;
    } catch (error) {
      if (error instanceof Stopping) {
        report('handed_back');
        return wait(0);
      }
      // Then nothing can be saved, and that is no fault of the job.
      if (refusalOf(error) !== undefined) {
        onError(error as Error);
        report('broke');
        return wait(backoffMs(timing, 1, 0.5));
      }
      const errors = (errorsOf.get(name) ?? 0) + 1;
      errorsOf.set(name, errors);
      // It is retried; only giving up is an error.
      log.warn({ err: error, job: definition.name, id, errors }, 'job failed, will retry');
      if (errors >= POISON_ERRORS) return giveUp(error);
      report('broke');
      metrics.retries.add({ of: 'job' });
      return wait(backoffMs(timing, errors, 0.5));
    }
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
      ...(parts.telemetry && { telemetry: parts.telemetry }),
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
    /** Waits until running jobs are handed back; `graceMs` after the stop, those with an open call are as well. */
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

export interface SweeperParts {
  due: DueStore;
  wake: (run: RunRef) => Promise<void>;
  /** Further work of each process at this interval. */
  alsoDo: () => Promise<unknown>;
  everyMs: number;
  log: Log;
  /** Called with errors by which Redis refuses something. */
  onError: (error: Error) => void;
  stopping: AbortSignal;
}

/** Entries woken at once: few trips to Redis, with room for other commands in between. */
const BATCH_SIZE = 50;

/** How late an entry is overdue, as a part of `everyMs`. */
const SWEEP_LATENESS = 0.2;

/** Wakes overdue entries every `everyMs`. A failed wake does not stop the others. */
export function startSweeper({ due, wake, alsoDo, everyMs, log, onError, stopping }: SweeperParts): void {
  const logFailure = (error: unknown) =>
    refusalOf(error) === undefined ? log.warn({ err: error }, 'sweep failed') : onError(error as Error);

  async function wakeOverdue() {
    const overdue = await due.overdue(everyMs * SWEEP_LATENESS, LONGEST_PAUSE_MS);
    for (let from = 0; from < overdue.length; from += BATCH_SIZE)
      await Promise.all(overdue.slice(from, from + BATCH_SIZE).map((run) => wake(run).catch(logFailure)));
  }

  const sweep = () => wakeOverdue().then(alsoDo).catch(logFailure);
  void repeat(stopping, () => everyMs, sweep);
}
