import { z } from 'zod';
import { defineJob, done, runAgainIn } from '../job.ts';

/** Delivers the latest version of one message to Slack. */
export const outboxJob = defineJob<{ key: string }>({
  name: 'outbox',
  queue: 'slack-outbox',
  concurrency: 20,
  list: 'messages',
  data: z.object({ key: z.string() }),

  async run({ key }, { deliverMessage, messages, log }) {
    try {
      const inMs = await deliverMessage(key);
      return inMs === undefined ? done : runAgainIn(inMs);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ message: key, err: error }, 'the record of a message is damaged');
      await messages.abandon(key);
      return done;
    }
  },
});
