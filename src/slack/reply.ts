import { z } from 'zod';
import { findMentions, ownWords } from './markdown/message.ts';

/** A person's message in a channel or a thread. */
export const userMessage = z.object({
  channel: z.string(),
  /** With channel and team the identity of the message: an @mention arrives as two events with the same `ts`. */
  ts: z.string(),
  /** The `ts` of the thread's root; missing if the message is not a reply. */
  threadTs: z.string().exactOptional(),
  /** The author of the root, if Slack names them. */
  parentUser: z.string().exactOptional(),
  user: z.string(),
  /** From another organization, or possibly so in a channel shared with one. */
  external: z.boolean(),
  mentionsBot: z.boolean(),
  /** It mentions others than the bot and its author: a person, a user group, or everybody here. */
  mentionsOthers: z.boolean(),
  /** The fields of the event that `messageToMarkdown` reads. */
  content: z.object({
    text: z.unknown().optional(),
    blocks: z.unknown().optional(),
    attachments: z.unknown().optional(),
  }),
  /** Whether files are attached. */
  files: z.boolean(),
});
type UserMessage = z.infer<typeof userMessage>;

export type Reply =
  | ({ kind: 'reply' } & UserMessage)
  /** A person changed the wording, at `editedTs`; the fields are those of the present message. */
  | ({ kind: 'edited'; editedTs: string } & UserMessage)
  | ({ kind: 'deleted' } & Pick<UserMessage, 'channel' | 'ts' | 'threadTs' | 'parentUser'>)
  /** `why` is for the log. */
  | { kind: 'ignored'; why: string };

const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);
const id = optional(z.string().min(1));
const unknowns = optional(z.array(z.unknown()));

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
  edited: optional(z.object({ user: id, ts: id })),
  hidden: optional(z.boolean()),
});
type MessageFields = z.infer<typeof messageFields>;

const messageEvent = messageFields.extend({
  type: z.enum(['message', 'app_mention']),
  channel: z.string().min(1),
  message: optional(messageFields),
  previous_message: optional(messageFields),
  deleted_ts: id,
});
type Event = z.infer<typeof messageEvent>;

// Teams and authorizations here belong to the installation, not to the author.
const envelopeFields = z.object({
  team_id: id,
  context_team_id: id,
  is_ext_shared_channel: optional(z.boolean()),
  authorizations: optional(z.array(z.object({ team_id: id }))),
});
type Envelope = z.infer<typeof envelopeFields>;

/** The bot, and the workspace in which it is installed. */
export interface BotIdentity {
  teamId: string;
  /** The Enterprise Grid of the workspace; missing if there is none. */
  enterpriseId?: string;
  botUserId: string;
}
type Own = Pick<BotIdentity, 'botUserId'>;

/** Subtypes of people's messages. A file alone, `/me`, and "also send to #channel" are among them. */
const PERSON_SUBTYPES = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/**
 * Parses a `message` or `app_mention` event; `envelope` is the request's body around it, `own` the bot's identity.
 * Accepts any input, and ignores messages that no person wrote. Slack does not mark those reliably: its own lines come
 * from `USLACK` or `USLACKBOT` without a subtype, a bot's posts have a `user`, and previews of links and edits of a bot
 * are `message_changed` as well.
 */
export function readReply(event: unknown, envelope: unknown, own: BotIdentity): Reply {
  const { data } = messageEvent.safeParse(event);
  if (data === undefined) return ignored('unreadable');
  const around = envelopeFields.safeParse(envelope).data ?? {};
  if (data.subtype === 'message_changed') return readChange(data, around, own);
  if (data.subtype === 'message_deleted') return readDeletion(data, own);
  if (data.hidden) return ignored('hidden');
  return readMessage(data, data.channel, around, own);
}

const ignored = (why: string): Reply => ({ kind: 'ignored', why });

function readMessage(message: MessageFields, channel: string, around: Envelope, own: BotIdentity): Reply {
  const { ts, user, text, blocks, attachments, files = [] } = message;
  const why = nonPersonReason(message, own);
  if (why) return ignored(why);
  if (!PERSON_SUBTYPES.has(message.subtype)) return ignored('another subtype');
  if (!ts || !user) return ignored('unreadable');
  const content = { text, blocks, attachments };
  // The mentions in a forwarded message are not those of the person who forwards it.
  const { users, groups, everybody } = findMentions(ownWords(content));
  const others = users.filter((other) => other !== own.botUserId && other !== user);
  return {
    kind: 'reply',
    channel,
    ts,
    ...threadOf(message),
    user,
    external: isExternal(message, around, own),
    mentionsBot: users.includes(own.botUserId),
    mentionsOthers: others.length > 0 || groups.length > 0 || everybody,
    content,
    files: files.length > 0,
  };
}

const FROM_APP = 'from a bot';

function nonPersonReason({ user, bot_id, bot_profile }: MessageFields, { botUserId }: Own) {
  if (user === botUserId) return 'our own';
  if (bot_id || bot_profile) return FROM_APP;
  return user === 'USLACK' || user === 'USLACKBOT' ? 'from Slack' : undefined;
}

function readChange(event: Event, around: Envelope, own: BotIdentity): Reply {
  const { channel, message, previous_message: previous } = event;
  if (!message) return ignored('unreadable');
  // A message with replies is not deleted but replaced by a line of Slack's.
  if (message.subtype === 'tombstone')
    return readDeletion({ ...event, previous_message: previous ?? message }, own);
  const reply = readMessage(message, channel, around, own);
  if (reply.kind !== 'reply') return reply;
  const { user: editor, ts: editedTs = '' } = message.edited ?? {};
  // A preview of a link came or went.
  if (!message.edited || previous?.edited?.ts === editedTs) return ignored('not edited');
  if (editor === own.botUserId || editor?.startsWith('B')) return ignored('not edited by a person');
  return { ...reply, kind: 'edited', editedTs };
}

function readDeletion({ channel, deleted_ts, previous_message: previous }: Event, own: BotIdentity): Reply {
  const why = previous && nonPersonReason(previous, own);
  if (why) return ignored(why);
  const ts = deleted_ts ?? previous?.ts;
  return ts ? { kind: 'deleted', channel, ts, ...(previous && threadOf(previous)) } : ignored('unreadable');
}

/**
 * Returns the messages that people wrote, of those that Slack returns for a thread. Those of other apps have no user and
 * no content.
 */
export function readThread(messages: readonly unknown[], own: Own) {
  return messages.flatMap((message) => {
    const { data } = messageFields.safeParse(message);
    if (!data?.ts || data.hidden) return [];
    const { ts, user, subtype, text, blocks, attachments } = data;
    const why = nonPersonReason(data, own);
    if (why === FROM_APP) return [{ ts, user: '', content: {} }];
    return user && !why && PERSON_SUBTYPES.has(subtype)
      ? [{ ts, user, content: { text, blocks, attachments } }]
      : [];
  });
}

function threadOf({ ts, thread_ts, parent_user_id }: MessageFields) {
  if (thread_ts === undefined || thread_ts === ts) return {};
  return { threadTs: thread_ts, ...(parent_user_id !== undefined && { parentUser: parent_user_id }) };
}

/**
 * Returns the workspace whose installation of the app an event is for. In a channel that is shared with another
 * workspace, `team_id` may be that other one.
 */
export function installedTeamId(envelope: unknown): string | undefined {
  const { authorizations, context_team_id, team_id } = envelopeFields.safeParse(envelope).data ?? {};
  return authorizations?.[0]?.team_id ?? context_team_id ?? team_id;
}

/** In a shared channel, a person counts as external unless proven to be from the app's workspace or its Grid. */
function isExternal(message: MessageFields, around: Envelope, own: BotIdentity): boolean {
  if (around.is_ext_shared_channel === false) return false;
  const teams = [message.user_team, message.team, message.source_team].filter((one) => one !== undefined);
  const isOurs = (id: string) => id === own.teamId || (id.startsWith('E') && id === own.enterpriseId);
  return teams.length === 0 || !teams.every(isOurs);
}
