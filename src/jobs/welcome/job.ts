import { defineRunJob, markIdle, saveAs } from '../run-job.ts';
import { type WelcomeRun, welcomeRun } from './record.ts';
import { welcomeMessages } from './view.ts';

/** Greets a channel once, unless the app is known there. The outbox posts the message. */
export const welcomeJob = defineRunJob<WelcomeRun>({
  name: 'welcome',
  queue: 'slack-outbox',
  concurrency: 1,
  schema: welcomeRun,
  messages: welcomeMessages,
  async step({ run }, context) {
    if (run.state === 'ended') return markIdle(run, context);
    if (run.state === 'greeting') return saveAs({ ...run, state: 'ended' });
    return (await context.ownPosts.isKnownIn(run.teamId, run.channel))
      ? saveAs({ ...run, state: 'ended', known: true })
      : saveAs({ ...run, state: 'greeting' });
  },
  // Nobody waits for it.
  giveUp: async ({ run }, context) => markIdle(run, context),
});
