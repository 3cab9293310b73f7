import { exportJob } from './export/job.ts';
import { outboxJob } from './outbox/job.ts';

/** Every kind of background work. */
export const jobs = [exportJob, outboxJob] as const;
