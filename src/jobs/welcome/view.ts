import { layout, type Message } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { exportSiteButton } from '../export/reply-view.ts';
import { type WelcomeRun, welcomeActions } from './record.ts';

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
