import type { z } from 'zod';
import type { DueEntry, DueList } from '../store/due.ts';
import { memberOf } from '../store/run-lua.ts';
import type { JobContext } from './context.ts';
import type { QueueName } from './queue.ts';

/** What a step of a job came to. A job never waits inside a worker: it says when it is to be stepped again. */
export type Outcome = { kind: 'done' } | { kind: 'again'; inMs: number };

export const done: Outcome = { kind: 'done' };
export const runAgainIn = (ms: number): Outcome => ({ kind: 'again', inMs: Math.max(0, Math.round(ms)) });

/** A kind of background work, all of it in one place. The subject (`id`) has at most one BullMQ job at a time. */
export interface Job<Data, Context = JobContext> {
  /** Name in logs, metrics and records. */
  name: string;
  queue: QueueName;
  /** How many of them one process works on at once; jobs that share a queue share the largest number. */
  concurrency: number;
  data: z.ZodType<Data>;
  /** Lists its subjects until they are idle; without a list, what dies with a process is not found again. */
  list?: DueList;
  /** One execution: one or a few steps. Safe to repeat at any point, since a process may die at any point. */
  run(data: Data, context: Context): Promise<Outcome>;
  /** After a defect of ours, again and again: shows people `ref`, which the log has too. */
  giveUp?(data: Data, context: Context, ref: string): Promise<void>;
}

export const defineJob = <Data, Context = JobContext>(job: Job<Data, Context>): Job<Data, Context> => job;

/** How the subject of a job is listed, if it is. */
export function dueEntryOf(list: DueList | undefined, job: string, id: string): DueEntry | undefined {
  if (list === undefined) return undefined;
  return list === 'runs' ? { list, member: memberOf({ job, id }), runId: id } : { list, member: id };
}
