import { z } from 'zod';
import { UnreadableMessage } from '../../store/messages.ts';
import { defineJob, done, runAgainIn } from '../job.ts';
import { UNREADABLE_RETRY_MS } from '../run-job.ts';

/** Brings one message in Slack up to date; the delivery itself says when to come back. */
export const outboxJob = defineJob<{ key: string }>({
  name: 'outbox',
  queue: 'slack-outbox',
  list: 'messages',
  concurrency: 20,
  data: z.object({ key: z.string() }),

  async run({ key }, { deliver, log }) {
    try {
      const result = await deliver(key);
      return result.kind === 'settled' ? done : runAgainIn(result.inMs);
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      log.info({ message: key, err: error }, 'a message cannot be read, and is left to a newer Docket');
      return runAgainIn(UNREADABLE_RETRY_MS);
    }
  },
});
