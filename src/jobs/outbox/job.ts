import { z } from 'zod';
import { UnreadableMessage } from '../../store/messages.ts';
import { defineJob, done, type Outcome, runAgainIn } from '../job.ts';
import { UNREADABLE_RETRY_MS } from '../run-job.ts';

const slackJob = { queue: 'slack-outbox', concurrency: 20 } as const;

const outcomeOf = (inMs: number | undefined): Outcome => (inMs === undefined ? done : runAgainIn(inMs));

/** Brings one message in Slack up to date. */
export const outboxJob = defineJob<{ key: string }>({
  ...slackJob,
  name: 'outbox',
  list: 'messages',
  data: z.object({ key: z.string() }),

  async run({ key }, { deliverMessage, log }) {
    try {
      return outcomeOf(await deliverMessage(key));
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      log.info({ message: key, err: error }, 'a message cannot be read, and is left to a newer Docket');
      return runAgainIn(UNREADABLE_RETRY_MS);
    }
  },
});

/** Brings the reactions on the messages of one run up to date. */
export const reactionsJob = defineJob<{ runId: string }>({
  ...slackJob,
  name: 'reactions',
  list: 'reactions',
  data: z.object({ runId: z.string() }),
  run: async ({ runId }, { deliverReactions }) => outcomeOf(await deliverReactions(runId)),
});
