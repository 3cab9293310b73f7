import { z } from 'zod';
import type { RunRef } from '../store/run-scripts.ts';
import { mentionJob } from './agent/mention.ts';
import { threadJob } from './agent/thread/job.ts';
import { updateJob } from './deployment/job.ts';
import { editionJob } from './digest/edition/job.ts';
import { figuresJob } from './digest/figures/job.ts';
import { scheduleJob } from './digest/schedule/job.ts';
import type { Job } from './engine/job.ts';
import type { Queues } from './engine/queue.ts';
import { exportJob, linkJob } from './export/job.ts';
import { exportScheduleJob } from './export-schedule/job.ts';
import { homeJob } from './home/job.ts';
import { siteJob } from './site/job.ts';

/** Delivers the latest version of one message to Slack; its `id` is the key. */
export const outboxJob: Job = {
  name: 'outbox',
  queue: 'slack-outbox',
  concurrency: 20,

  async run(key, { deliverMessage, runs, log }) {
    try {
      return await deliverMessage(key);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ message: key, err: error }, 'the record of a message is damaged');
      await runs.unlist({ job: 'outbox', id: key }, true);
      return undefined;
    }
  },
};

/** Every kind of background work. */
export const jobs = [
  exportJob,
  linkJob,
  updateJob,
  exportScheduleJob,
  threadJob,
  mentionJob,
  siteJob,
  figuresJob,
  scheduleJob,
  editionJob,
  outboxJob,
  homeJob,
] as const;

/** Queues a run, the delivery of a message or the refresh of a Home tab for a step of its job, at once. */
export async function enqueueRun(queues: Queues, { id, job }: RunRef): Promise<void> {
  const definition = jobs.find(({ name }) => name === job);
  if (definition === undefined) throw new Error(`No job is called ${job}`);
  await queues.enqueue(definition.queue, job, id);
}
