import { z } from 'zod';
import { exportSiteButton } from '../../jobs/export/progress-view.ts';
import { overviewMessage } from '../../jobs/help-view.ts';
import { layout } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { idOf } from '../../store/keys.ts';
import { defineButton, type EventListener, type Registry } from '../registry.ts';

export const welcomeActions = { how: 'welcome.how' } as const;

const howButton = defineButton({
  action: welcomeActions.how,
  may: 'status',
  value: z.unknown(),
  run: async () => overviewMessage,
});

/** Returns the greeting of a channel, the same for each event. It mentions nobody, and has the lowest priority. */
export const welcomeMessage = (teamId: string, channel: string): OutboxMessage => ({
  key: idOf('welcome', teamId, channel),
  place: { channel },
  kind: 'state',
  lowPriority: true,
  repost: false,
  message: layout({
    lines: [
      ["Hi, I'm Docket: exports of your docs site, the docs agent and weekly numbers, in Slack."],
      ['Export a docs site: ', { code: '/docs-export docs.acme.com' }],
      ['Ask the docs agent: ', { code: '/docs-agent new Add a quickstart' }],
    ],
    buttons: [
      { ...exportSiteButton, style: 'primary' },
      { label: 'How it works', action: welcomeActions.how },
    ],
  }),
});

const id = z.string().regex(/^[A-Z0-9]{2,30}$/);
const idChanged = z.object({ old_channel_id: id, new_channel_id: id });
const joined = z.object({ user: z.string(), channel: z.string() });

const events: readonly EventListener[] = [
  {
    // Greets a channel to which the app was added, unless it is known there. Slack sends it for everybody who joins.
    event: 'member_joined_channel',
    subscriptions: { member_joined_channel: 'channels:read' },
    async handle(event, _envelope, { identity, threads, publish }) {
      const { teamId, botUserId } = identity;
      const read = joined.safeParse(event);
      if (!read.success || read.data.user !== botUserId) return;
      const { channel } = read.data;
      if (!(await threads.hasPostedIn(teamId, channel)))
        await publish(teamId, welcomeMessage(teamId, channel), 1);
    },
  },
  {
    event: 'channel_id_changed',
    subscriptions: { channel_id_changed: 'groups:read' },
    async handle(event, _envelope, { identity, changeChannelId, log }) {
      const read = idChanged.safeParse(event);
      if (!read.success) return;
      const { old_channel_id: known, new_channel_id: present } = read.data;
      await changeChannelId(identity.teamId, known, present);
      log.info({ known, present }, 'the id of a channel has changed');
    },
  },
  ...['app_uninstalled', 'tokens_revoked'].map(
    (event): EventListener => ({
      event,
      subscriptions: { [event]: undefined },
      async handle(_event, _envelope, { checkToken, log }) {
        await checkToken().catch((error: unknown) => {
          log.error(
            { err: error },
            'Slack has withdrawn the bot token: all work waits until the app is installed again',
          );
        });
      },
    }),
  ),
];

/** Greets channels, and handles changes of the app's workspace. */
export const workspaceCommands = { buttons: [howButton], events } satisfies Partial<Registry>;
