import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { noteCaused } from '../caused.ts';
import type { Call, Wire } from '../wire.ts';
import { readArguments } from './arguments.ts';
import { type Inside, requireScope } from './inside.ts';
import type { Method } from './method.ts';
import { blockMethods } from './methods-blocks.ts';
import { chatMethods } from './methods-chat.ts';
import { connectionMethods } from './methods-connections.ts';
import { conversationMethods } from './methods-conversations.ts';
import { fileMethods } from './methods-files.ts';
import { usergroupMethods } from './methods-usergroups.ts';
import { viewMethods } from './methods-views.ts';
import type { RateLimits } from './rate-limits.ts';
import { Refused } from './refused.ts';

const METHODS: Record<string, Method> = {
  ...blockMethods,
  ...chatMethods,
  ...connectionMethods,
  ...conversationMethods,
  ...fileMethods,
  ...usergroupMethods,
  ...viewMethods,
};

/** Refusals that say nothing against the bot: the world around it is like that, or changed meanwhile. */
const NO_FAULT_OF_THE_BOT = new Set([
  'already_reacted',
  'cannot_dm_bot',
  'channel_not_found',
  'expired_trigger_id',
  'hash_conflict',
  'is_archived',
  'message_not_found',
  'no_reaction',
  'no_such_subteam',
  'not_found',
  'not_in_channel',
  'thread_not_found',
  'user_not_found',
  'user_not_in_channel',
]);

/** The Web API: `POST /api/<method>`, with the token, scopes, limits and errors of Slack's. */
export function createWebApi(parts: {
  inside: Inside;
  wire: Wire;
  limits: RateLimits;
  limited: Call[];
  now: () => number;
}) {
  const { inside, wire, limits, limited, now } = parts;
  const app = new Hono<{ Bindings: Partial<HttpBindings> }>();

  app.on(['POST', 'GET'], '/api/:method', async (c) => {
    const name = c.req.param('method');
    const { args, token, error } = await readArguments(c.req.raw);
    return wire.serve(c, name, args, () => {
      const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
      const { tokens, manifest, appScopes } = inside;
      const scopes = token === tokens.app ? appScopes : manifest.scopes;
      try {
        if (!token) throw new Refused('not_authed');
        if (token !== tokens.bot && token !== tokens.app) throw new Refused('invalid_auth');
        if (!method) throw new Refused('unknown_method', { req_method: name });
        if (token !== tokens[method.token ?? 'bot']) throw new Refused('not_allowed_token_type');
        const waitS = limits.take(name, method.tier, method.postsTo?.(args));
        if (waitS > 0) {
          const call = wire.calls.findLast(({ detail }) => detail === args);
          if (call) limited.push(call);
          return answer(scopes, { ok: false, error: 'ratelimited' }, 429, { 'retry-after': String(waitS) });
        }
        if (error) throw new Refused(error);
        if (method.scopes.length > 0) requireScope({ manifest: { scopes } }, ...method.scopes);
        return answer(scopes, { ok: true, ...method.call(inside, args, c.req.url) });
      } catch (refusal) {
        if (!(refusal instanceof Refused)) throw refusal;
        const { code, detail, why } = refusal;
        noteCaused(`refused: ${code}`);
        if (why === undefined && !NO_FAULT_OF_THE_BOT.has(code))
          inside.violations.push(violation(name, refusal));
        return answer(scopes, { ok: false, error: code, ...detail });
      }
    });
  });

  function answer(
    scopes: string[],
    body: Record<string, unknown>,
    status = 200,
    headers: Record<string, string> = {},
  ) {
    const date = new Date(now()).toUTCString();
    return Response.json(body, { status, headers: { date, 'x-oauth-scopes': scopes.join(','), ...headers } });
  }

  return app;
}

function violation(name: string, { code, detail }: Refused): string {
  const { needed, response_metadata: metadata } = detail as {
    needed?: string;
    response_metadata?: { messages?: string[] };
  };
  return [`${name}: ${code}`, needed && `needs ${needed}`, ...(metadata?.messages ?? [])]
    .filter(Boolean)
    .join(' · ');
}
