import { z } from 'zod';
import { done, type Job, runAgainIn } from './job.ts';

/** Delivers the latest version of one message to Slack; its `id` is the key. */
export const outboxJob: Job = {
  name: 'outbox',
  queue: 'slack-outbox',
  concurrency: 20,

  async run(key, { deliverMessage, runs, log }) {
    try {
      const inMs = await deliverMessage(key);
      return inMs === undefined ? done : runAgainIn(inMs);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ message: key, err: error }, 'the record of a message is damaged');
      await runs.unlist({ job: 'outbox', id: key }, true);
      return done;
    }
  },
};
