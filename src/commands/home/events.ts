import { z } from 'zod';
import type { EventListener } from '../registry.ts';

const homeOpened = z.object({ tab: z.literal('home'), user: z.string() });

/** Refreshes the Home tab for the person who opens it. Slack also sends the event for the app's other tabs. */
export const homeEvents: readonly EventListener[] = [
  {
    event: 'app_home_opened',
    subscriptions: { app_home_opened: undefined },
    async handle(event, _envelope, { identity, updateHome }) {
      const opened = homeOpened.safeParse(event);
      if (opened.success) await updateHome(identity.teamId, opened.data.user);
    },
  },
];
