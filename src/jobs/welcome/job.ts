import { z } from 'zod';
import { layout, type Message } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';
import { exportSiteButton } from '../export/reply-view.ts';
import { defineRunJob, markIdle, saveAs } from '../run-job.ts';

/** The welcome of one channel. While its record exists, adding the app again causes no second one. */
export const welcomeRun = runBase.extend({
  job: z.literal('welcome'),
  channel: z.string(),
  state: z.enum(['accepted', 'ended']),
  /** The app had posted there before, so there is no greeting. */
  known: z.boolean().optional(),
});
export type WelcomeRun = z.infer<typeof welcomeRun>;

/** Returns the welcome of a channel: the same for a repeat, and if the app is added there again. */
export const newWelcome = ({ teamId, channel }: Pick<WelcomeRun, 'teamId' | 'channel'>): WelcomeRun => ({
  id: idOf('welcome', teamId, channel),
  teamId,
  job: 'welcome',
  rev: 1,
  people: [],
  channel,
  state: 'accepted',
});

export const welcomeActions = { how: 'welcome.how' } as const;

/** Returns the message of a welcome, unless the app is known there. It mentions nobody, and has the lowest priority. */
export const welcomeMessages = ({ id, channel, state, known }: WelcomeRun): OutboxMessage[] =>
  state === 'accepted' || known
    ? []
    : [
        {
          key: `${id}.welcome`,
          place: { channel },
          kind: 'state',
          lowPriority: true,
          repost: false,
          message: welcomeMessage,
        },
      ];

export const welcomeMessage: Message = layout({
  lines: [
    ["Hi, I'm Docket."],
    ['Export a docs site: ', { code: '/docs-export docs.acme.com' }],
    ['Instruct the docs agent: ', { code: '/docs-agent new Add a quickstart' }],
  ],
  buttons: [
    { ...exportSiteButton, style: 'primary' },
    { label: 'How it works', action: welcomeActions.how },
  ],
});

/** Greets a channel once, unless the app is known there. The outbox posts the message. */
export const welcomeJob = defineRunJob<WelcomeRun>({
  name: 'welcome',
  queue: 'slack-outbox',
  concurrency: 1,
  schema: welcomeRun,
  messages: welcomeMessages,
  async step({ run }, context) {
    if (run.state === 'ended') return markIdle(run, context);
    const known = await context.ownPosts.isKnownIn(run.teamId, run.channel);
    return saveAs({ ...run, state: 'ended', known });
  },
  // Nobody waits for it.
  giveUp: async ({ run }, context) => markIdle(run, context),
});
