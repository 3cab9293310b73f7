import { z } from 'zod';
import { isDirectMessage } from '../../slack/ids.ts';
import { idOf } from '../../store/keys.ts';

/** A person by Slack's id, and the name that messages show. */
export const person = z.object({ id: z.string(), name: z.string() });
export type Person = z.infer<typeof person>;

/** Who asked for a run, and where: fields of its record. */
export const origin = z.object({
  by: person,
  /** The conversation of the request. If the app cannot be invited there (`joinable`), messages go to the person. */
  asked: z.object({ channel: z.string(), joinable: z.boolean(), isPublic: z.boolean() }),
  /** Its messages are in the requester's direct messages, not in the conversation of the request. */
  inDirectMessage: z.boolean(),
});

/** A person's request, which becomes a run. */
export interface RunRequest {
  teamId: string;
  user: { id: string; name: string; fullMember: boolean };
  /** `name` is Slack's: the channel's own, or `directmessage` and `privategroup` for unnamed ones. */
  channel: { id: string; name: string };
  /** The same for a repeat of the same request. */
  requestId: string;
}

/** Returns the run id of a request. A repeat has the same id, so it starts no second run. */
export const requestRunId = ({ teamId, requestId }: Pick<RunRequest, 'teamId' | 'requestId'>) =>
  idOf(teamId, requestId);

/**
 * Returns the conversation of a request. `joinable`: the app can be invited there. Slack names only public channels;
 * one without a name counts as private. Home has no conversation: its requests use the person's direct messages.
 */
export function conversationOf({ id, name }: RunRequest['channel']) {
  const isDirect = name === 'directmessage' || name.startsWith('mpdm-') || isDirectMessage(id) || id === '';
  const isNamed = name !== '' && name !== 'privategroup';
  return { channel: id, joinable: !isDirect, isPublic: !isDirect && isNamed };
}

/** A person who reads lists of runs in a conversation, or on Home, without one. */
export interface Viewer {
  user: { id: string; fullMember: boolean };
  channel: { id: string };
}

/** The data that decides who may see a run; each feature derives it from its records. */
export interface Visible {
  by: { id: string };
  /** The conversation of the request; `isPublic`: every full member could read it then. */
  asked: { channel: string; isPublic: boolean };
  inDirectMessage: boolean;
  /** The place of its messages, if that may be elsewhere. */
  place?: { channel: string } | undefined;
}

/** Who may read a conversation. Neither rejects: if Slack does not answer in time, the result is false. */
export interface ConversationReaders {
  /** Whether every full member of the workspace may. */
  isPublic(channelId: string): Promise<boolean>;
  /** Whether this person is in it. */
  isMember(channelId: string, userId: string): Promise<boolean>;
}

/** How a kind of run is parsed, and who may see one. `what` is its name in messages, such as "export". */
export interface VisibleKind<Run> {
  what: string;
  record: z.ZodType<Run>;
  visible(run: Run): Visible;
}

/** Maximum channel look-ups for one list. Slack allows about 50 a minute. */
const MAX_CHANNEL_LOOKUPS = 30;

/** Whether something is in this channel, or was requested there. */
export const isInChannel = ({ asked, place }: Pick<Visible, 'asked' | 'place'>, channel: string) =>
  asked.channel === channel || place?.channel === channel;

/** Whether this person can read the conversation now. If Slack does not answer in time, the result is false. */
export const canRead = async (
  channel: string,
  { id, fullMember }: Viewer['user'],
  { isPublic, isMember }: ConversationReaders,
): Promise<boolean> => (fullMember && (await isPublic(channel))) || isMember(channel, id);

/** Whether this person can read the conversation. A channel that was public at the request may be private now. */
export async function canSee(
  visible: Visible,
  { user, channel }: Viewer,
  isPublic: ConversationReaders['isPublic'],
): Promise<boolean> {
  const { by, asked, inDirectMessage } = visible;
  if (by.id === user.id) return true;
  if (inDirectMessage) return false;
  if (isInChannel(visible, channel.id)) return true;
  return asked.isPublic && user.fullMember && (await isPublic(asked.channel));
}

/** Returns those that this person may see, in order. Channels beyond the look-up limit count as private. */
export async function filterVisible<T>(
  items: readonly T[],
  visibleOf: (item: T) => Visible,
  viewer: Viewer,
  isPublic: ConversationReaders['isPublic'],
): Promise<T[]> {
  const lookedUp = new Set<string>();
  const limitedIsPublic = async (channel: string) => {
    if (!lookedUp.has(channel) && lookedUp.size >= MAX_CHANNEL_LOOKUPS) return false;
    lookedUp.add(channel);
    return isPublic(channel);
  };
  const seen = await Promise.all(items.map((item) => canSee(visibleOf(item), viewer, limitedIsPublic)));
  return items.filter((_, index) => seen[index]);
}
