import { z } from 'zod';
import { flag, ts } from './arguments.ts';
import {
  botUser,
  type Inside,
  joinedChannel,
  requireScope,
  scopeOf,
  userById,
  visibleChannel,
} from './inside.ts';
import { messageJson, repliesTo, tombstoneJson } from './message-json.ts';
import { defineMethod, type Method } from './method.ts';
import { Refused } from './refused.ts';
import { type Channel, type SentMessage, tsKey, type User } from './workspace.ts';

const HISTORY_SCOPES = ['channels:history', 'groups:history', 'im:history', 'mpim:history'];
const READ_SCOPES = ['channels:read', 'groups:read', 'im:read', 'mpim:read'];
const MAX_LIMIT = 999;
/** Of apps that are distributed outside of Slack's Marketplace (https://docs.slack.dev/apis/web-api/rate-limits). */
const DISTRIBUTED_LIMIT = 15;

const windowArgs = {
  // "0" and whole seconds are also taken.
  oldest: z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .optional(),
  latest: z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .optional(),
  inclusive: flag,
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(100),
  cursor: z.string().optional(),
  include_all_metadata: flag,
};
type Window = z.output<z.ZodObject<typeof windowArgs>>;

function within({ oldest, latest, inclusive }: Window, message: SentMessage): boolean {
  const at = tsKey(message.ts);
  const after = oldest === undefined || at > tsKey(oldest) || (inclusive && at === tsKey(oldest));
  const before = latest === undefined || at < tsKey(latest) || (inclusive && at === tsKey(latest));
  return Boolean(after && before);
}

function page({ distributed }: Inside, found: SentMessage[], { cursor, limit: wanted }: Window) {
  const limit = distributed ? Math.min(wanted, DISTRIBUTED_LIMIT) : wanted;
  let start = 0;
  if (cursor) {
    const from = /^next_ts:(\d+\.\d+)$/.exec(Buffer.from(cursor, 'base64').toString())?.[1];
    start = found.findIndex((message) => message.ts === from);
    if (from === undefined || start < 0) throw new Refused('invalid_cursor');
  }
  const next = found[start + limit];
  return {
    messages: found.slice(start, start + limit),
    rest: {
      has_more: next !== undefined,
      ...(next && {
        response_metadata: { next_cursor: Buffer.from(`next_ts:${next.ts}`).toString('base64') },
      }),
    },
  };
}

function readable(inside: Inside, where: string): Channel {
  const channel = joinedChannel(inside, where);
  requireScope(inside, scopeOf(channel, 'history'));
  return channel;
}

function show(inside: Inside, { include_all_metadata: withMetadata }: Window, message: SentMessage) {
  if (message.deleted) return tombstoneJson(inside, message);
  return messageJson(inside, message, { withMetadata: withMetadata === true });
}

const history = defineMethod({
  tier: 'T3',
  scopes: HISTORY_SCOPES,
  args: z.object({ channel: z.string(), ...windowArgs }),
  run(inside, args) {
    const channel = readable(inside, args.channel);
    const { messages } = inside.workspace;
    const found = messages.filter(
      (message) =>
        message.channel === channel.id &&
        (message.threadTs === undefined || message.broadcast) &&
        (!message.deleted || repliesTo(messages, message).length > 0) &&
        within(args, message),
    );
    const { messages: shown, rest } = page(inside, found.reverse(), args);
    return { messages: shown.map((message) => show(inside, args, message)), ...rest };
  },
});

/** Slack may end a page early though there is more: only `has_more` and the cursor say so. */
const SHORT_PAGE = 200;

const replies = defineMethod({
  tier: 'T3',
  scopes: HISTORY_SCOPES,
  args: z.object({ channel: z.string(), ts, ...windowArgs }),
  run(inside, args) {
    const channel = readable(inside, args.channel);
    const { messages } = inside.workspace;
    const root = messages.find((message) => message.channel === channel.id && message.ts === args.ts);
    if (!root) throw new Refused('thread_not_found');
    const answers = repliesTo(messages, root);
    if (root.deleted && answers.length === 0) throw new Refused('thread_not_found');
    const { messages: shown, rest } = page(
      inside,
      answers.filter((message) => within(args, message)),
      { ...args, limit: Math.min(args.limit, SHORT_PAGE) },
    );
    // The parent opens every page, also when it lies outside of the window.
    return { messages: [root, ...shown].map((message) => show(inside, args, message)), ...rest };
  },
});

const open = defineMethod({
  tier: 'T3',
  scopes: ['im:write', 'mpim:write'],
  args: z.object({ users: z.string().optional(), channel: z.string().optional(), return_im: flag }),
  run(inside, args) {
    const { workspace } = inside;
    if (args.channel) {
      const channel = joinedChannel(inside, args.channel);
      if (channel.kind !== 'im' && channel.kind !== 'mpim') throw new Refused('invalid_channel');
      return { no_op: true, already_open: true, channel: { id: channel.id } };
    }
    const ids = (args.users ?? '').split(',').filter(Boolean);
    if (ids.length === 0) throw new Refused('users_list_not_supplied');
    if (ids.length > 8) throw new Refused('too_many_users');
    requireScope(inside, ids.length === 1 ? 'im:write' : 'mpim:write');
    const users = ids.map((id) => userById(workspace, id));
    if (users.some(({ isBot }) => isBot)) throw new Refused('cannot_dm_bot');
    const before = workspace.channels.length;
    const channel = workspace.direct([workspace.bot.userId, ...ids]);
    const known = workspace.channels.length === before;
    return {
      ...(known && { no_op: true, already_open: true }),
      channel: args.return_im ? channelJson(inside, channel) : { id: channel.id },
    };
  },
});

const info = defineMethod({
  tier: 'T3',
  scopes: READ_SCOPES,
  args: z.object({ channel: z.string() }),
  run(inside, args) {
    const channel = visibleChannel(inside, args.channel);
    requireScope(inside, scopeOf(channel, 'read'));
    return { channel: channelJson(inside, channel) };
  },
});

const members = defineMethod({
  tier: 'T4',
  scopes: READ_SCOPES,
  args: z.object({
    channel: z.string(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: z.string().optional(),
  }),
  run(inside, { channel: where, limit, cursor }) {
    const channel = visibleChannel(inside, where);
    requireScope(inside, scopeOf(channel, 'read'));
    const start = cursor === undefined ? 0 : Number(Buffer.from(cursor, 'base64').toString());
    if (!Number.isInteger(start)) throw new Refused('invalid_cursor');
    const next = start + limit < channel.members.size ? String(start + limit) : '';
    return {
      members: [...channel.members].slice(start, start + limit),
      response_metadata: { next_cursor: Buffer.from(next).toString('base64') },
    };
  },
});

function channelJson(inside: Inside, channel: Channel): Record<string, unknown> {
  const { kind, members } = channel;
  const bot = botUser(inside).id;
  return {
    id: channel.id,
    ...(kind === 'im' ? { user: [...members].find((id) => id !== bot) } : { name: channel.name }),
    is_channel: kind === 'public' || kind === 'private',
    is_group: kind === 'private',
    is_im: kind === 'im',
    is_mpim: kind === 'mpim',
    is_private: kind !== 'public',
    is_archived: channel.archived,
    is_member: members.has(bot),
    is_ext_shared: channel.shared,
    is_shared: channel.shared,
    is_org_shared: false,
    is_pending_ext_shared: channel.pendingShared ?? false,
    pending_shared: channel.pendingShared ? ['T0OTHER'] : [],
    context_team_id: inside.workspace.team.id,
  };
}

function userJson(user: User): Record<string, unknown> {
  const names = { display_name: user.name, real_name: user.realName };
  return {
    id: user.id,
    team_id: user.team,
    name: user.name,
    real_name: user.realName,
    deleted: user.deleted,
    tz: user.tz,
    tz_label: user.tz,
    tz_offset: user.tzOffset,
    profile: {
      ...names,
      display_name_normalized: user.name,
      real_name_normalized: user.realName,
      team: user.team,
    },
    is_admin: false,
    is_owner: false,
    is_restricted: user.isRestricted,
    is_ultra_restricted: user.isUltraRestricted,
    is_bot: user.isBot,
    is_app_user: false,
    // Slack leaves it out for people of one's own organization.
    ...(user.isStranger && { is_stranger: true }),
  };
}

const usersInfo = defineMethod({
  tier: 'T4',
  scopes: ['users:read'],
  args: z.object({ user: z.string() }),
  run: ({ workspace }, { user }) => ({ user: userJson(userById(workspace, user)) }),
});

const authTest = defineMethod({
  tier: 'special',
  args: z.object({}),
  run(inside) {
    const { team, bot } = inside.workspace;
    return {
      url: team.url,
      team: team.name,
      user: botUser(inside).name,
      team_id: team.id,
      user_id: bot.userId,
      bot_id: bot.botId,
      app_id: bot.appId,
      is_enterprise_install: false,
    };
  },
});

export const conversationMethods: Record<string, Method> = {
  'auth.test': authTest,
  'conversations.history': history,
  'conversations.replies': replies,
  'conversations.open': open,
  'conversations.info': info,
  'conversations.members': members,
  'users.info': usersInfo,
};
