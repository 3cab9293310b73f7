import type { JobContext } from './context.ts';
import type { QueueName } from './queue.ts';

/** The result of a job's step. A job never waits inside a worker: it returns when the next step is due. */
export type Outcome = { kind: 'done' } | { kind: 'again'; inMs: number };

export const done: Outcome = { kind: 'done' };
export const runAgainIn = (ms: number): Outcome => ({ kind: 'again', inMs: Math.max(0, Math.round(ms)) });

/** A kind of background work. Its subject (`id`) has at most one BullMQ job at a time. */
export interface Job<Context = JobContext> {
  /** Name in logs, metrics and records. */
  name: string;
  queue: QueueName;
  /** Maximum number that one process runs at once; jobs that share a queue share the largest number. */
  concurrency: number;
  /** One execution: one or a few steps. Safe to repeat at any point, since a process may die at any point. */
  run(id: string, context: Context): Promise<Outcome>;
  /** After repeated errors of our own: shows people `ref`, which the log has as well. */
  giveUp?(id: string, context: Context, ref: string): Promise<void>;
}
