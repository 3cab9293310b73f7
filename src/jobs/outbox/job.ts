import { z } from 'zod';
import { defineJob, done, type Outcome, runAgainIn } from '../job.ts';

const slackJob = { queue: 'slack-outbox', concurrency: 20 } as const;

const outcomeOf = (inMs: number | undefined): Outcome => (inMs === undefined ? done : runAgainIn(inMs));

/** Brings one message in Slack up to date. */
export const outboxJob = defineJob<{ key: string }>({
  ...slackJob,
  name: 'outbox',
  list: 'messages',
  data: z.object({ key: z.string() }),

  async run({ key }, { deliverMessage, messages, log }) {
    try {
      return outcomeOf(await deliverMessage(key));
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ message: key, err: error }, 'the record of a message is damaged');
      await messages.abandon(key);
      return done;
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
