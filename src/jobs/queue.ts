import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { keys, PREFIX } from '../store/keys.ts';
import { type QueueName, queueNames } from './job.ts';

/** Longer than a look takes; after it, a job that waits has looked by itself. */
const WOKEN_MS = 60_000;

export interface Queues {
  /**
   * Sees to it that the job's subject is looked at: adds a BullMQ job unless there is one, and has it run once
   * more if it is running just now. With `now`, one that waits for its time runs at once.
   */
  ensure(queue: QueueName, job: string, id: string, data: object, options?: { now?: boolean }): Promise<void>;
  /** How much there is in each queue. */
  counts(): Promise<QueueCounts[]>;
  close(): Promise<void>;
}

/** BullMQ jobs of one queue. `failed` ones are kept for a week; nobody works on them any more. */
export interface QueueCounts {
  queue: QueueName;
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

/**
 * `connection` may be one for requests or one for work. It is checked by nobody: BullMQ's own version check
 * would leave a queue broken for good that was created while Redis was away.
 */
export function createQueues(connection: Redis, onError: (error: Error) => void): Queues {
  const queues = new Map(
    queueNames.map((name) => {
      const queue = new Queue(name, {
        connection,
        prefix: PREFIX,
        skipWaitingForReady: true,
        skipVersionCheck: true,
      });
      queue.on('error', onError);
      return [name, queue];
    }),
  );

  return {
    async ensure(queueName, job, id, data, { now = false } = {}) {
      const subject = `${job}:${id}`;
      const deduplication = { id: subject, keepLastIfActive: true, ...(now && { reschedule: true }) };
      // For the worker that has the job just now: BullMQ would tell it only when the job finishes. Redis gets both in
      // this order, on one connection.
      const marked = now ? connection.set(keys.woken(subject), 1, 'PX', WOKEN_MS) : undefined;
      const added = queues.get(queueName)?.add(job, data, {
        deduplication,
        removeOnComplete: true,
        removeOnFail: { age: 7 * 24 * 3600 },
      });
      await Promise.all([marked, added]);
    },
    counts: () =>
      Promise.all(
        [...queues].map(async ([name, queue]) => {
          const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
          const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
          return { queue: name, waiting, active, delayed, failed };
        }),
      ),
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
