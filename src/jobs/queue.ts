import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { PREFIX } from '../store/keys.ts';
import { type QueueName, queueNames } from './job.ts';

export interface Queues {
  /**
   * Sees to it that the job's subject is looked at: adds a BullMQ job unless there is one, and has it run once
   * more if it is running just now. With `now`, one that waits for its time runs at once.
   */
  ensure(queue: QueueName, job: string, id: string, data: object, options?: { now?: boolean }): Promise<void>;
  close(): Promise<void>;
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
      const deduplication = { id: `${job}:${id}`, keepLastIfActive: true, ...(now && { reschedule: true }) };
      await queues.get(queueName)?.add(job, data, {
        deduplication,
        removeOnComplete: true,
        removeOnFail: { age: 7 * 24 * 3600 },
      });
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
