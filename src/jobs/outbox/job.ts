import { z } from 'zod';
import type { Deliver } from '../../slack/delivery.ts';
import { defineJob, done, lookAgainIn } from '../job.ts';

/** Brings one message in Slack up to date; the delivery itself says when to come back. */
export const outboxJob = defineJob<{ key: string }, { deliver: Deliver }>({
  name: 'outbox',
  queue: 'slack-outbox',
  concurrency: 20,
  data: z.object({ key: z.string() }),

  async run({ key }, { deliver }) {
    const delivered = await deliver(key);
    return delivered.kind === 'settled' ? done : lookAgainIn(delivered.inMs);
  },
});
