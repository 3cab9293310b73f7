import { z } from 'zod';
import type { Log } from '../../runtime/log.ts';
import type { Deliver } from '../../slack/delivery.ts';
import { UnreadableMessage } from '../../store/messages.ts';
import { defineJob, done, lookAgainIn } from '../job.ts';
import { UNREADABLE_MS } from '../step-run.ts';

/** Brings one message in Slack up to date; the delivery itself says when to come back. */
export const outboxJob = defineJob<{ key: string }, { deliver: Deliver; log: Log }>({
  name: 'outbox',
  queue: 'slack-outbox',
  list: 'messages',
  concurrency: 20,
  data: z.object({ key: z.string() }),

  async run({ key }, { deliver, log }) {
    try {
      const delivered = await deliver(key);
      return delivered.kind === 'settled' ? done : lookAgainIn(delivered.inMs);
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      log.info({ message: key, err: error }, 'a message cannot be read, and is left to a newer Docket');
      return lookAgainIn(UNREADABLE_MS);
    }
  },
});
