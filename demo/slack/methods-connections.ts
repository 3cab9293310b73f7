import { z } from 'zod';
import { defineMethod, type Method } from './method.ts';

const open = defineMethod({
  tier: 'T3',
  token: 'app',
  scopes: ['connections:write'],
  args: z.object({}),
  run({ tickets, workspace }, _, url) {
    const { host } = new URL(url);
    // Without a port, somebody before it speaks TLS.
    const scheme = host?.includes(':') ? 'ws' : 'wss';
    return { url: `${scheme}://${host}/link/?ticket=${tickets.issue()}&app_id=${workspace.bot.appId}` };
  },
});

export const connectionMethods: Record<string, Method> = { 'apps.connections.open': open };
