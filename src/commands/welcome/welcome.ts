import { z } from 'zod';
import { overviewMessage } from '../../jobs/help-view.ts';
import { newWelcome, welcomeActions } from '../../jobs/welcome/job.ts';
import { retention } from '../../runtime/timing.ts';
import { defineButton, type EventListener, type Registry } from '../registry.ts';

/** [How it works]: shows help. */
const howButton = defineButton({
  action: welcomeActions.how,
  may: 'status',
  value: z.unknown(),
  run: async () => overviewMessage,
});

const joined = z.object({ user: z.string(), channel: z.string() });

/** Greets a channel to which the app was added. Slack sends the event for everybody who joins. */
const welcomeEvents: readonly EventListener[] = [
  {
    event: 'member_joined_channel',
    subscriptions: { member_joined_channel: 'channels:read' },
    async handle(event, _envelope, { identity, runs, wake }) {
      const { teamId, botUserId } = identity;
      const read = joined.safeParse(event);
      if (!read.success || read.data.user !== botUserId) return;
      const welcome = newWelcome({ teamId, channel: read.data.channel });
      const { kind } = await runs.accept(welcome, Number.MAX_SAFE_INTEGER, retention.runMs, undefined);
      if (kind === 'accepted') wake(welcome);
    },
  },
];

export const welcomeCommands = {
  buttons: [howButton],
  events: welcomeEvents,
} satisfies Partial<Registry>;
