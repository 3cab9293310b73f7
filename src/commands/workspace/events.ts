import { z } from 'zod';
import type { EventListener } from '../registry.ts';

const id = z.string().regex(/^[A-Z0-9]{2,30}$/);
const idChanged = z.object({ old_channel_id: id, new_channel_id: id });
const revoked = z.object({ tokens: z.object({ bot: z.array(z.string()).min(1) }) });

/** Handles changes of the app's workspace. */
export const workspaceEvents: readonly EventListener[] = [
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
  {
    event: 'app_uninstalled',
    subscriptions: { app_uninstalled: undefined },
    handle: (_event, _envelope, { checkToken }) => checkToken(),
  },
  {
    event: 'tokens_revoked',
    subscriptions: { tokens_revoked: undefined },
    // The app has no tokens of people.
    handle: async (event, _envelope, { checkToken }) => {
      if (revoked.safeParse(event).success) await checkToken();
    },
  },
];
