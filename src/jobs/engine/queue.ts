import type { QueueOptions } from 'bullmq';
import { Queue } from 'bullmq/dist/cjs/classes/queue.js';
import { PREFIX } from '../../store/keys.ts';
import type { RedisClient } from '../../store/redis/client.ts';

/** BullMQ queues, one per upstream, so that problems of one do not delay the others. */
export const queueNames = ['docs-export', 'docs-agent', 'docs-analytics', 'slack-outbox'] as const;
export type QueueName = (typeof queueNames)[number];

export type Queues = ReturnType<typeof createQueues>;

/** Lets BullMQ pass a trace along with a job. */
export type QueueTelemetry = NonNullable<QueueOptions['telemetry']>;

/** States of BullMQ jobs. `failed` ones are kept for a week; nobody works on them any more. */
export const queueStates = ['waiting', 'active', 'delayed', 'failed'] as const;
export type QueueCounts = { queue: QueueName } & Record<(typeof queueStates)[number], number>;

/** `connection` may be one for requests or one for work. */
export function createQueues(
  connection: RedisClient,
  onError: (error: Error) => void,
  telemetry?: QueueTelemetry,
) {
  const queues = new Map(
    queueNames.map((name) => {
      const queue = new Queue(name, {
        connection,
        prefix: PREFIX,
        skipWaitingForReady: true,
        // If a queue is created while Redis is away, BullMQ's check would break it for good.
        skipVersionCheck: true,
        ...(telemetry && { telemetry }),
      });
      queue.on('error', onError);
      return [name, queue];
    }),
  );

  return {
    /** Adds a BullMQ job, in place of a delayed one for the same id; a running one runs once more afterwards. */
    async enqueue(queueName: QueueName, job: string, id: string) {
      await queues.get(queueName)?.add(
        job,
        { id },
        {
          // One call, for which BullMQ needs no clock.
          deduplication: { id: `${job}:${id}`, keepLastIfActive: true, replace: true },
          removeOnComplete: true,
          removeOnFail: { age: 7 * 24 * 3600 },
        },
      );
    },
    all: (): readonly Queue[] => [...queues.values()],
    /** Whether BullMQ works on none of the jobs in one of the queues. */
    isPaused: async (): Promise<boolean> =>
      (await Promise.all([...queues.values()].map((queue) => queue.isPaused()))).includes(true),
    counts: (): Promise<QueueCounts[]> =>
      Promise.all(
        [...queues].map(async ([name, queue]) => {
          const counts = (await queue.getJobCounts(...queueStates)) as Omit<QueueCounts, 'queue'>;
          return { queue: name, ...counts };
        }),
      ),
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
