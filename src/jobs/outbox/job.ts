import { z } from 'zod';
import type { Outbox } from '../../slack/outbox.ts';
import { defineJob, done, lookAgainIn } from '../job.ts';

/** Brings one message in Slack up to date; the outbox itself says when to come back. */
export const outboxJob = defineJob<{ key: string }, { outbox: Outbox }>({
  name: 'outbox',
  queue: 'slack-outbox',
  concurrency: 20,
  data: z.object({ key: z.string() }),

  async run({ key }, { outbox }) {
    const delivered = await outbox.deliver(key);
    return delivered.kind === 'settled' ? done : lookAgainIn(delivered.inMs);
  },
});
