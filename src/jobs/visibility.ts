import type { z } from 'zod';
import type { ConversationReaders } from '../slack/conversation-readers.ts';

/** Somebody who sees lists of runs in a conversation; on Home in none. */
export interface Viewer {
  user: { id: string; fullMember: boolean };
  channel: { id: string };
}

/** What decides who may see a run: each feature says it of its records. */
export interface Visible {
  requester: { id: string };
  /** Where it was asked for; `isPublic`: every full member could read that conversation then. */
  asked: { channel: string; isPublic: boolean };
  inDirectMessage: boolean;
  /** Where its messages are, if that may be elsewhere. */
  place?: { channel: string } | undefined;
}

/** Whether every full member may read a conversation now; not, when that is not known. */
export type IsPublic = (channelId: string) => Promise<boolean>;

/** How a kind of run is read, and who may see one. */
export interface VisibleKind<Run> {
  record: z.ZodType<Run>;
  visible(run: Run): Visible;
}

/** Channels that one list asks Slack about. It allows about 50 such look-ups a minute. */
const MAX_CHANNEL_LOOKUPS = 30;

/** Whether something is in this channel, or was asked for there. */
export const isInChannel = ({ asked, place }: Pick<Visible, 'asked' | 'place'>, channel: string) =>
  asked.channel === channel || place?.channel === channel;

/**
 * Whether messages are where this person can read them. Only full members can enter public channels, and a channel
 * that was public when it was asked for may be private by now.
 */
export async function canSee(
  visible: Visible,
  { user, channel }: Viewer,
  isPublic: IsPublic,
): Promise<boolean> {
  const { requester, asked, inDirectMessage } = visible;
  if (requester.id === user.id) return true;
  if (inDirectMessage) return false;
  if (isInChannel(visible, channel.id)) return true;
  return asked.isPublic && user.fullMember && (await isPublic(asked.channel));
}

/**
 * Returns those that this person may see, in their order. What there are too many channels to ask about counts as
 * private.
 */
export async function filterVisible<T>(
  items: readonly T[],
  visibleOf: (item: T) => Visible,
  viewer: Viewer,
  isPublic: IsPublic,
): Promise<T[]> {
  const lookedUp = new Set<string>();
  const limitedIsPublic: IsPublic = async (channel) => {
    if (!lookedUp.has(channel) && lookedUp.size >= MAX_CHANNEL_LOOKUPS) return false;
    lookedUp.add(channel);
    return isPublic(channel);
  };
  const seen = await Promise.all(items.map((item) => canSee(visibleOf(item), viewer, limitedIsPublic)));
  return items.filter((_, index) => seen[index]);
}

/**
 * Whether this person may act on it from wherever they are: as `canSee`, or as a member of its conversation. On Home and
 * in other conversations, Slack alone knows the members of a private channel.
 */
export async function mayAct(
  visible: Visible,
  viewer: Viewer,
  { isPublic, isMember }: ConversationReaders,
): Promise<boolean> {
  if (await canSee(visible, viewer, isPublic)) return true;
  return (
    !visible.inDirectMessage && (await isMember((visible.place ?? visible.asked).channel, viewer.user.id))
  );
}
