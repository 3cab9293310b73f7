import { type Job as BullJob, DelayedError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Log } from '../log.ts';
import { Stopping } from '../stopping.ts';
import { createJobErrorStore } from '../store/job-errors.ts';
import { keys, PREFIX } from '../store/keys.ts';
import { backoffMs, type Timing } from '../timing.ts';
import { within } from '../within.ts';
import type { Job } from './job.ts';

/** Unexpected errors in a row, or deaths of the process, after which a job counts as poison. */
const POISON_ERRORS = 8;
const POISON_STALLS = 20;

/**
 * BullMQ keeps a wake that comes while a job runs until that job finishes, not until it is delayed. Hence a mark of
 * our own, and no pause is long: jobs that wait for longer look more than once.
 */
const LONGEST_PAUSE_MS = 30_000;

/** A shorter pause is over before anybody minds. */
const SHORT_PAUSE_MS = 500;

export interface Workers {
  /** Waits for running jobs, which are handed back, for `graceMs` at most; none is taken any more. */
  close(graceMs: number): Promise<void>;
}

export interface WorkerParts<Context> {
  // biome-ignore lint/suspicious/noExplicitAny: the registry mixes jobs with different data; each parses its own
  jobs: readonly Job<any, Context>[];
  context: Context;
  /** Commands of this connection wait while Redis is away; the workers make further ones of their own from it. */
  connection: Redis;
  /** Once it is aborted, no job is taken, and each that runs is handed back where it would begin something outside. */
  stopping: AbortSignal;
  /** A short reference for people and the log. */
  newRef: () => string;
  /** Whether Redis does not tell its version. */
  skipVersionCheck?: boolean;
  timing: Timing;
  log: Log;
  onError: (error: Error) => void;
}

/** One BullMQ worker per queue. A job that wants another look is moved to delayed, which frees its slot. */
export function createWorkers<Context>(parts: WorkerParts<Context>): Workers {
  const {
    jobs,
    context,
    connection,
    skipVersionCheck = false,
    stopping,
    newRef,
    timing,
    log,
    onError,
  } = parts;
  const jobErrors = createJobErrorStore(connection);
  /** Jobs that broke here since their last good look. */
  const broken = new Set<string>();

  async function look(definition: Job<unknown, Context>, bullJob: BullJob, token: string | undefined) {
    if (stopping.aborted) return handBack(bullJob, 0, token);
    const data = definition.data.parse(bullJob.data);
    if (bullJob.stalledCounter > POISON_STALLS)
      return giveUp(definition, data, `stalled ${bullJob.stalledCounter} times`);
    const name = `${definition.name}:${bullJob.id}`;
    let waitMs: number;
    try {
      const outcome = await definition.run(data, context);
      if (broken.delete(name)) await jobErrors.clear(name);
      if (outcome.kind === 'done') return;
      waitMs = outcome.inMs;
    } catch (error) {
      if (error instanceof Stopping) return handBack(bullJob, 0, token);
      const errors = await jobErrors.add(name);
      broken.add(name);
      log.error({ err: error, job: definition.name, data, errors }, 'a job broke');
      if (errors >= POISON_ERRORS && broken.delete(name)) return giveUp(definition, data, error);
      waitMs = backoffMs(timing, errors, 0.5);
    }
    return handBack(bullJob, waitMs, token);
  }

  async function giveUp(definition: Job<unknown, Context>, data: unknown, reason: unknown) {
    const ref = newRef();
    log.error({ err: reason, job: definition.name, data, ref }, 'gave up on a job');
    await definition.giveUp?.(data, context, ref);
  }

  async function handBack(bullJob: BullJob, waitMs: number, token: string | undefined): Promise<never> {
    const isLong = waitMs > SHORT_PAUSE_MS;
    const pauseMs = isLong && (await takeWake(bullJob)) ? 0 : Math.min(waitMs, LONGEST_PAUSE_MS);
    await bullJob.moveToDelayed(Date.now() + pauseMs, token);
    // A wake that came between the two; it may also have found the job delayed, and had it run already.
    if (isLong && pauseMs > 0 && (await takeWake(bullJob))) await bullJob.promote().catch(() => {});
    throw new DelayedError();
  }

  const takeWake = async ({ opts }: BullJob) =>
    (await connection.getdel(keys.woken(opts.deduplication?.id ?? ''))) !== null;

  const queues = [...new Set(jobs.map(({ queue }) => queue))];
  const workers = queues.map((queue) => {
    const here = jobs.filter((definition) => definition.queue === queue);
    const process = (bullJob: BullJob, token: string | undefined) => {
      const definition = here.find(({ name }) => name === bullJob.name);
      // From a newer Docket that shares this Redis: it is left to that one.
      if (definition === undefined) return handBack(bullJob, LONGEST_PAUSE_MS, token);
      return look(definition, bullJob, token);
    };
    const worker = new Worker(queue, process, {
      connection,
      prefix: PREFIX,
      concurrency: Math.max(...here.map(({ concurrency }) => concurrency)),
      lockDuration: timing.lockMs,
      stalledInterval: timing.stalledMs,
      // A lifetime count in BullMQ: its default of 1 would fail a healthy job at the second crash of a process.
      maxStalledCount: 1000,
      // Without the version, BullMQ wakes delayed jobs at whole seconds only; where INFO is forbidden, it is that or nothing.
      skipVersionCheck,
    });
    worker.on('error', onError);
    return worker;
  });

  const close = () => Promise.all(workers.map((worker) => worker.close()));
  stopping.addEventListener('abort', () => void close().catch(onError));

  return {
    async close(graceMs) {
      await within(graceMs, close());
    },
  };
}
