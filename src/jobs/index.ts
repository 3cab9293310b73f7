import type { RunBase } from '../store/runs.ts';
import { mentionJob } from './agent/mention.ts';
import { threadJob } from './agent/thread/job.ts';
import { watchJob } from './agent/watch/job.ts';
import { editionJob } from './digest/edition/job.ts';
import { figuresJob } from './digest/figures/job.ts';
import { scheduleJob } from './digest/schedule/job.ts';
import { exportJob, linkJob } from './export/job.ts';
import { type HomeData, homeJob } from './home/job.ts';
import { outboxJob } from './outbox/job.ts';
import type { Queues } from './queue.ts';

/** Every kind of background work. */
export const jobs = [
  exportJob,
  linkJob,
  threadJob,
  watchJob,
  mentionJob,
  figuresJob,
  scheduleJob,
  editionJob,
  outboxJob,
  homeJob,
] as const;

/** Queues a run for a step of its job, at once. */
export async function enqueueRun(queues: Queues, { id, job }: Pick<RunBase, 'id' | 'job'>): Promise<void> {
  const definition = jobs.find(({ name }) => name === job);
  if (definition === undefined) throw new Error(`No job is called ${job}`);
  await queues.enqueue(definition.queue, job, id, { runId: id }, { replace: true });
}

/** Queues the Home tab of one person for publishing, at once. */
export async function enqueueHome(queues: Queues, data: HomeData): Promise<void> {
  const name = `${data.teamId}:${data.userId}`;
  await queues.enqueue(homeJob.queue, homeJob.name, name, data, { replace: true });
}

/** Returns what queues the delivery of a message. */
export const deliveryQueue =
  (queues: Queues) =>
  (key: string, inMs = 0): Promise<void> =>
    queues.enqueue(outboxJob.queue, outboxJob.name, key, { key }, { replace: true, inMs });
