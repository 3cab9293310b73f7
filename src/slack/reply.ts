import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { findMentions, type MessageText, ownWords } from './markdown/message.ts';

/** A person's message in a channel or a thread. */
export interface UserMessage {
  channel: string;
  /** With channel and team the identity of the message: an @mention arrives as two events with the same `ts`. */
  ts: string;
  /** The `ts` of the thread's root; missing if the message is not a reply. */
  threadTs?: string;
  /** The author of the root, if Slack names them. */
  parentUser?: string;
  user: string;
  /** From another organization, or possibly so in a channel shared with one. */
  external: boolean;
  mentionsBot: boolean;
  /** It mentions others than the bot and its author: a person, a user group, or everybody here. */
  mentionsOthers: boolean;
  /** The fields of the event that `messageToMarkdown` reads. */
  content: MessageText;
  /** Whether files are attached. */
  files: boolean;
}

export type Reply =
  | ({ kind: 'reply' } & UserMessage)
  /** A person changed the wording, at `editedTs`; the fields are those of the present message. */
  | ({ kind: 'edited'; editedTs: string } & UserMessage)
  | ({ kind: 'deleted' } & Pick<UserMessage, 'channel' | 'ts' | 'threadTs' | 'parentUser'>)
  /** `why` is for the log. */
  | { kind: 'ignored'; why: string };

const id = z.string().min(1).optional().catch(undefined);
const unknowns = z.array(z.unknown()).optional().catch(undefined);

const messageFields = z.object({
  subtype: id,
  ts: id,
  thread_ts: id,
  parent_user_id: id,
  user: id,
  bot_id: id,
  bot_profile: z.unknown().optional(),
  team: id,
  user_team: id,
  source_team: id,
  text: id,
  blocks: unknowns,
  attachments: unknowns,
  files: unknowns,
  edited: z.object({ user: id, ts: id }).optional().catch(undefined),
  hidden: z.boolean().optional().catch(undefined),
});
type MessageFields = z.infer<typeof messageFields>;

const messageEvent = messageFields.extend({
  type: z.string(),
  channel: z.string().min(1),
  message: messageFields.optional().catch(undefined),
  previous_message: messageFields.optional().catch(undefined),
  deleted_ts: id,
});

// Teams and authorizations here belong to the installation, not to the author.
const envelopeFields = z.object({
  team_id: id,
  context_team_id: id,
  is_ext_shared_channel: z.boolean().optional().catch(undefined),
  authorizations: z
    .array(z.object({ team_id: id }))
    .optional()
    .catch(undefined),
});
type Envelope = z.infer<typeof envelopeFields>;

/** The bot, and the workspace in which it is installed. */
export interface BotIdentity {
  teamId: string;
  /** The Enterprise Grid of the workspace; missing if there is none. */
  enterpriseId?: string;
  botUserId: string;
}

/** Subtypes of people's messages. A file alone, `/me`, and "also send to #channel" are among them. */
const PERSON_SUBTYPES = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/**
 * Parses a `message` or `app_mention` event; `envelope` is the request's body around it, `own` the bot's identity.
 * Accepts any input, and ignores messages that no person wrote. Slack does not mark those reliably: its own lines come
 * from `USLACK` or `USLACKBOT` without a subtype, a bot's posts have a `user`, and previews of links and edits of a bot
 * are `message_changed` as well.
 */
export function readReply(event: unknown, envelope: unknown, own: BotIdentity): Reply {
  const read = messageEvent.safeParse(event);
  if (!read.success) return ignored('unreadable');
  const { data } = read;
  const around = envelopeFields.safeParse(envelope).data ?? {};
  if (data.type !== 'message' && data.type !== 'app_mention') return ignored('not a message');
  if (data.subtype === 'message_changed') return readChange(data, around, own);
  if (data.subtype === 'message_deleted') return readDeletion(data, own.botUserId);
  if (data.hidden) return ignored('hidden');
  return readMessage(data, data.channel, around, own);
}

const ignored = (why: string): Reply => ({ kind: 'ignored', why });

function readMessage(message: MessageFields, channel: string, around: Envelope, own: BotIdentity): Reply {
  const { botUserId } = own;
  const { ts, user, text, blocks, attachments } = message;
  const why = nonPersonReason(message, own.botUserId);
  if (why) return ignored(why);
  if (!PERSON_SUBTYPES.has(message.subtype)) return ignored('another subtype');
  if (!ts || !user) return ignored('unreadable');
  const content = { text, blocks, attachments };
  // The mentions in a forwarded message are not those of the person who forwards it.
  const mentions = findMentions(ownWords(content));
  const others = mentions.users.filter((other) => other !== botUserId && other !== user);
  return {
    kind: 'reply',
    channel,
    ts,
    ...threadOf(message),
    user,
    external: isExternal(message, around, own),
    mentionsBot: mentions.users.includes(botUserId),
    mentionsOthers: others.length > 0 || mentions.groups.length > 0 || mentions.everybody,
    content,
    files: (message.files ?? []).length > 0,
  };
}

function nonPersonReason(
  { user, bot_id, bot_profile }: MessageFields,
  botUserId: string,
): string | undefined {
  if (user === botUserId) return 'our own';
  if (bot_id || bot_profile) return 'from a bot';
  return user === 'USLACK' || user === 'USLACKBOT' ? 'from Slack' : undefined;
}

type Event = z.infer<typeof messageEvent>;

function readChange(event: Event, around: Envelope, own: BotIdentity): Reply {
  const { botUserId } = own;
  const { channel, message, previous_message: previous } = event;
  if (!message) return ignored('unreadable');
  // A message with replies is not deleted but replaced by a line of Slack's.
  if (message.subtype === 'tombstone') {
    return readDeletion({ ...event, previous_message: previous ?? message }, botUserId);
  }
  const editor = message.edited?.user;
  const reply = readMessage(message, channel, around, own);
  if (reply.kind !== 'reply') return reply;
  if (!message.edited || editor === botUserId || editor?.startsWith('B')) {
    return ignored('not edited by a person');
  }
  if (previous && isSameWording(previous, message)) return ignored('wording unchanged');
  return { ...reply, kind: 'edited', editedTs: message.edited.ts ?? '' };
}

function readDeletion(event: Event, botUserId: string): Reply {
  const { channel, previous_message: previous } = event;
  const ts = event.deleted_ts ?? previous?.ts;
  const why = previous && nonPersonReason(previous, botUserId);
  if (why) return ignored(why);
  if (!ts) return ignored('unreadable');
  return { kind: 'deleted', channel, ts, ...(previous ? threadOf(previous) : {}) };
}

function threadOf({
  ts,
  thread_ts,
  parent_user_id,
}: MessageFields): Pick<UserMessage, 'threadTs' | 'parentUser'> {
  if (thread_ts === undefined || thread_ts === ts) return {};
  return { threadTs: thread_ts, ...(parent_user_id !== undefined && { parentUser: parent_user_id }) };
}

/** A link preview changes the attachments, and gives the blocks new ids. */
const isSameWording = (previous: MessageFields, message: MessageFields) =>
  previous.text === message.text && isDeepStrictEqual(withoutIds(previous), withoutIds(message));

const withoutIds = ({ blocks = [] }: MessageFields) =>
  blocks.map((block) => (block instanceof Object ? { ...block, block_id: undefined } : block));

/**
 * Returns the workspace whose installation of the app an event is for. In a channel that is shared with another
 * workspace, `team_id` may be that other one.
 */
export function installedTeamId(envelope: unknown): string | undefined {
  const { authorizations, context_team_id, team_id } = envelopeFields.safeParse(envelope).data ?? {};
  return authorizations?.[0]?.team_id ?? context_team_id ?? team_id;
}

/**
 * Returns false for channels that are not shared. In others, a person counts as external unless proven to be from the
 * workspace of the app or its Enterprise Grid.
 */
function isExternal(
  { team, user_team, source_team }: MessageFields,
  around: Envelope,
  own: BotIdentity,
): boolean {
  if (around.is_ext_shared_channel === false) return false;
  const theirs = [user_team, team, source_team].filter((one) => one !== undefined);
  const isOurs = (id: string) => id === own.teamId || (id.startsWith('E') && id === own.enterpriseId);
  return theirs.length === 0 || !theirs.every(isOurs);
}

/** The facts about a person that decide permissions, and the name to show. */
export interface Person {
  id: string;
  name: string;
  /** A full member of this workspace: active, no guest, nobody from another organization. */
  fullMember: boolean;
  /** A full member of this workspace's Enterprise Grid, as Slack reports. */
  gridMember?: boolean;
  /** Neither a bot nor deactivated. Inactive people have no permission, even if listed by id. */
  active: boolean;
}
