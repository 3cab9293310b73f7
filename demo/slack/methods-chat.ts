import { z } from 'zod';
import { flag, ts } from './arguments.ts';
import { checkMessageBlocks } from './block-kit/check.ts';
import { botUser, type Inside, joinedChannel, messageAt, userById, visibleChannel } from './inside.ts';
import { messageJson, repliesTo } from './message-json.ts';
import { defineMethod, type Method } from './method.ts';
import { notifiedBy } from './notifies.ts';
import { Refused } from './refused.ts';
import { checkShownHere } from './shown-here.ts';
import type { Channel, Content, Metadata, SentMessage } from './workspace.ts';

// "Slack will truncate messages containing more than 40,000 characters" (chat.postMessage).
const MAX_POST_TEXT = 40_000;
// chat.update refuses more than 4,000; others measured bytes, not characters.
const MAX_UPDATE_TEXT_BYTES = 4000;
// Cumulative for the payload (markdown block reference).
const MAX_MARKDOWN = 12_000;
// Slack publishes no size for `metadata_too_large`; this one is a guess that catches runaway payloads.
const MAX_METADATA = 8000;

const contentArgs = {
  text: z.string().optional(),
  blocks: z.unknown().optional(),
  attachments: z.unknown().optional(),
  markdown_text: z.string().optional(),
  metadata: z.unknown().optional(),
};
type ContentArgs = z.output<z.ZodObject<typeof contentArgs>>;

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const flat = z.record(z.string(), scalar);
const metadataSchema = z.object({
  event_type: z.string().min(1).max(255),
  event_payload: z.record(z.string(), z.union([scalar, z.array(scalar), flat, z.array(flat)])),
});

function metadataOf(value: unknown): Metadata | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') throw new Refused('invalid_metadata_format');
  const checked = metadataSchema.safeParse(value);
  if (!checked.success) throw new Refused('invalid_metadata_schema');
  if (JSON.stringify(value).length > MAX_METADATA) throw new Refused('metadata_too_large');
  return checked.data;
}

/** Checks what is to be shown, as all methods that take a message do. */
export function contentOf(inside: Inside, args: ContentArgs): Content {
  const { workspace } = inside;
  const { text = '', markdown_text: markdown } = args;
  if (markdown !== undefined && (text !== '' || args.blocks !== undefined)) {
    throw new Refused('markdown_text_conflict');
  }
  if (markdown !== undefined && markdown.length > MAX_MARKDOWN) throw new Refused('msg_too_long');
  const blocks =
    markdown === undefined
      ? checkMessageBlocks(args.blocks, workspace.newId)
      : checkMessageBlocks([{ type: 'markdown', text: markdown }], workspace.newId);
  checkShownHere(inside, blocks);
  const attached = Array.isArray(args.attachments) && args.attachments.length > 0;
  if (text === '' && blocks.length === 0 && !attached) throw new Refused('no_text');
  const metadata = metadataOf(args.metadata);
  return { text, blocks, ...(metadata && { metadata }) };
}

/** Where a post goes: a conversation, a public channel by name, or the direct messages of a user id. */
function destination(inside: Inside, where: string): Channel {
  const { workspace, manifest } = inside;
  if (/^[UW]/.test(where) && workspace.users.some(({ id }) => id === where)) {
    return workspace.direct([workspace.bot.userId, where]);
  }
  const named = workspace.channels.find(
    ({ kind, name }) => kind === 'public' && name === where.replace(/^#/, ''),
  );
  const channel = visibleChannel(inside, named?.id ?? where);
  if (channel.archived) throw new Refused('is_archived');
  const member = channel.members.has(workspace.bot.userId);
  if (!member && !manifest.scopes.includes('chat:write.public')) throw new Refused('not_in_channel');
  return channel;
}

/**
 * The thread a reply lands in. A parent that was deleted before anybody replied is gone, and Slack then posts to
 * the channel instead (two projects report it; undocumented). A reply cannot have replies.
 */
export function threadOf(
  { workspace }: Inside,
  channel: Channel,
  threadTs: string | undefined,
): string | undefined {
  if (threadTs === undefined) return undefined;
  const root = workspace.messages.find(
    (message) => message.channel === channel.id && message.ts === threadTs,
  );
  if (root?.threadTs) throw new Refused('cannot_reply_to_message');
  if (!root || (root.deleted && repliesTo(workspace.messages, root).length === 0)) return undefined;
  return threadTs;
}

const postMessage = defineMethod({
  tier: 'special',
  scopes: ['chat:write'],
  postsTo: ({ channel }) => (typeof channel === 'string' ? channel : undefined),
  args: z.object({
    channel: z.string(),
    thread_ts: ts.optional(),
    reply_broadcast: flag,
    ...contentArgs,
  }),
  run(inside, args) {
    const channel = destination(inside, args.channel);
    const content = contentOf(inside, args);
    content.text = content.text.slice(0, MAX_POST_TEXT);
    const threadTs = threadOf(inside, channel, args.thread_ts);
    const broadcast = threadTs !== undefined && args.reply_broadcast === true;
    const sent = inside.workspace.post(
      { ...content, channel, user: botUser(inside), threadTs, broadcast },
      notifiedBy(content.text, content.blocks),
    );
    return { channel: channel.id, ts: sent.ts, message: messageJson(inside, sent, { withMetadata: true }) };
  },
});

/** A message of the bot's own in a conversation that it sees. */
function ownMessage(inside: Inside, where: string, at: string, otherwise: string): [Channel, SentMessage] {
  const channel = visibleChannel(inside, where);
  const message = messageAt(inside.workspace, channel.id, at);
  if (!message) throw new Refused('message_not_found');
  if (message.user !== inside.workspace.bot.userId) throw new Refused(otherwise);
  return [channel, message];
}

const update = defineMethod({
  tier: 'T3',
  scopes: ['chat:write'],
  args: z.object({ channel: z.string(), ts, ...contentArgs }),
  run(inside, args) {
    const [channel, message] = ownMessage(inside, args.channel, args.ts, 'cant_update_message');
    if (channel.archived) throw new Refused('is_archived');
    if (Buffer.byteLength(args.text ?? '') > MAX_UPDATE_TEXT_BYTES) throw new Refused('msg_too_long');
    inside.workspace.replace(message, contentOf(inside, args));
    return {
      channel: channel.id,
      ts: message.ts,
      text: message.text,
      message: messageJson(inside, message, { withMetadata: true }),
    };
  },
});

const remove = defineMethod({
  tier: 'T3',
  scopes: ['chat:write'],
  args: z.object({ channel: z.string(), ts }),
  run(inside, args) {
    const [channel, message] = ownMessage(inside, args.channel, args.ts, 'cant_delete_message');
    if (inside.refuses.deletions) throw new Refused(inside.refuses.deletions, {}, 'ordered');
    inside.workspace.remove(message);
    return { channel: channel.id, ts: message.ts };
  },
});

const postEphemeral = defineMethod({
  tier: 'T4',
  scopes: ['chat:write'],
  args: z.object({ channel: z.string(), user: z.string(), thread_ts: ts.optional(), ...contentArgs }),
  run(inside, args) {
    const channel = joinedChannel(inside, args.channel);
    if (channel.archived) throw new Refused('is_archived');
    const user = userById(inside.workspace, args.user);
    if (!channel.members.has(user.id)) throw new Refused('user_not_in_channel');
    const content = contentOf(inside, args);
    const threadTs = args.thread_ts;
    if (threadTs !== undefined && !isActive(inside, channel, threadTs)) {
      return { message_ts: inside.workspace.newTs() };
    }
    const ephemeral = inside.workspace.addEphemeral({
      ...content,
      channel: channel.id,
      to: user.id,
      via: 'chat.postEphemeral',
      ...(threadTs !== undefined && { threadTs }),
    });
    return { message_ts: ephemeral.ts };
  },
});

/** "Ephemeral messages in threads are only shown if there is already an active thread" (chat.postEphemeral). */
const isActive = ({ workspace }: Inside, channel: Channel, ts: string) =>
  repliesTo(workspace.messages, { channel: channel.id, ts }).length > 0;

const getPermalink = defineMethod({
  tier: 'special',
  args: z.object({ channel: z.string(), message_ts: ts }),
  run(inside, args) {
    const channel = visibleChannel(inside, args.channel);
    const message = messageAt(inside.workspace, channel.id, args.message_ts);
    if (!message) throw new Refused('message_not_found');
    return { channel: channel.id, permalink: permalinkOf(inside, message) };
  },
});

/** The address of a message in the workspace's archive, which opens it in a client. */
function permalinkOf({ workspace }: Inside, { channel, ts: at, threadTs }: SentMessage): string {
  const link = `${workspace.team.url}archives/${channel}/p${at.replace('.', '')}`;
  return threadTs ? `${link}?thread_ts=${threadTs}&cid=${channel}` : link;
}

function reaction(wanted: boolean): Method {
  return defineMethod({
    tier: wanted ? 'T3' : 'T2',
    scopes: ['reactions:write'],
    args: z.object({ channel: z.string(), timestamp: ts, name: z.string().min(1) }),
    run(inside, args) {
      const { workspace } = inside;
      const channel = joinedChannel(inside, args.channel);
      if (channel.archived) throw new Refused('is_archived');
      const message = messageAt(workspace, channel.id, args.timestamp);
      if (!message) throw new Refused('message_not_found');
      if (!/^[a-z0-9_+'-]+$/.test(args.name)) throw new Refused('invalid_name');
      if (!workspace.react(message, args.name, workspace.bot.userId, wanted)) {
        throw new Refused(wanted ? 'already_reacted' : 'no_reaction');
      }
      return {};
    },
  });
}

export const chatMethods: Record<string, Method> = {
  'chat.postMessage': postMessage,
  'chat.update': update,
  'chat.delete': remove,
  'chat.postEphemeral': postEphemeral,
  'chat.getPermalink': getPermalink,
  'reactions.add': reaction(true),
  'reactions.remove': reaction(false),
};
