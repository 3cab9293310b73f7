import { z } from 'zod';
import type { createDelivery } from '../slack/delivery.ts';
import type { RunRef } from '../store/run-scripts.ts';
import { mentionJob } from './agent/mention.ts';
import { threadJob } from './agent/thread/job.ts';
import { threadRestore } from './agent/thread/restore.ts';
import { updateJob } from './deployment/job.ts';
import { updateRestore } from './deployment/restore.ts';
import { editionJob } from './digest/edition/job.ts';
import { editionRestore } from './digest/edition/restore.ts';
import { figuresJob } from './digest/figures/job.ts';
import { rowJob } from './digest/row/job.ts';
import { scheduleJob } from './digest/schedule/job.ts';
import { digestScheduleRestore } from './digest/schedule/restore.ts';
import type { JobContext } from './engine/context.ts';
import type { Job } from './engine/job.ts';
import type { Queues } from './engine/queue.ts';
import type { Restore } from './engine/restore.ts';
import { exportJob, linkJob } from './export/job.ts';
import { exportRestore, linkRestore } from './export/restore.ts';
import { exportScheduleJob } from './export-schedule/job.ts';
import { exportScheduleRestore } from './export-schedule/restore.ts';
import { homeJob } from './home/job.ts';
import { pullRequestJob, repositoryJob } from './pull-request/job.ts';
import { pullRequestRestore } from './pull-request/restore.ts';
import { siteJob } from './site/job.ts';
import { siteRestore } from './site/restore.ts';

/** What the outbox alone may do: every other job says in the outbox what it wants. */
interface OutboxContext extends Pick<JobContext, 'log'> {
  store: Pick<JobContext['store'], 'runs'>;
  deliverMessage: ReturnType<typeof createDelivery>;
}

/** The parts of all jobs together. */
export type WorkerContext = JobContext & OutboxContext;

/** Delivers the latest version of one message to Slack; its `id` is the key. */
export const outboxJob: Job<OutboxContext> = {
  name: 'outbox',
  queue: 'slack-outbox',
  concurrency: 20,

  async run(key, { deliverMessage, store: { runs }, log }) {
    try {
      await deliverMessage(key);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ message: key, err: error }, 'the record of a message is damaged');
      await runs.unlist({ job: 'outbox', id: key }, true);
    }
    return undefined;
  },
};

/** Every kind of background work. */
export const jobs: readonly Job<WorkerContext>[] = [
  exportJob,
  linkJob,
  updateJob,
  exportScheduleJob,
  threadJob,
  mentionJob,
  repositoryJob,
  pullRequestJob,
  siteJob,
  figuresJob,
  scheduleJob,
  editionJob,
  rowJob,
  outboxJob,
  homeJob,
];

/** Queues a run, the delivery of a message or the refresh of a Home tab for a step of its job, at once. */
export async function enqueueRun(queues: Queues, { id, job }: RunRef): Promise<void> {
  const definition = jobs.find(({ name }) => name === job);
  if (definition === undefined) throw new Error(`No job is called ${job}`);
  await queues.enqueue(definition.queue, job, id);
}

/** What becomes of runs after a restore from a backup. Other jobs go on as if nothing had happened. */
export const restores: readonly Restore[] = [
  exportRestore,
  linkRestore,
  updateRestore,
  exportScheduleRestore,
  threadRestore,
  pullRequestRestore,
  siteRestore,
  digestScheduleRestore,
  editionRestore,
];
