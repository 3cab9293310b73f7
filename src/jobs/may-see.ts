import type { ListedThread } from './agent/thread/record.ts';
import type { ExportRun } from './export/record.ts';

/** Somebody who looks at runs from a conversation; on Home from none. */
export interface Viewer {
  user: { id: string; fullMember: boolean };
  channel: { id: string };
}

/** Whether every full member may read a conversation now; not, when that is not known. */
export type IsPublic = (channelId: string) => Promise<boolean>;

/** Channels that one list asks Slack about. It allows about 50 such look-ups a minute. */
const MAX_CHANNEL_LOOKUPS = 30;

/** Whether a thread is in this channel, or was asked for there. */
export const isInChannel = ({ asked, place }: Pick<ListedThread, 'asked' | 'place'>, channel: string) =>
  asked.channel === channel || place?.channel === channel;

/**
 * Whether the messages of a run are where this person can read them. Only full members can enter public channels, and
 * a channel that was public when it was asked for may be private by now.
 */
export async function canSee(
  run: ExportRun | ListedThread,
  { user, channel }: Viewer,
  isPublic: IsPublic,
): Promise<boolean> {
  const requester = run.job === 'export' ? run.requester : run.owner;
  if (requester.id === user.id) return true;
  if (run.inDirectMessage) return false;
  if (run.job === 'export' ? run.asked.channel === channel.id : isInChannel(run, channel.id)) return true;
  return run.asked.isPublic && user.fullMember && (await isPublic(run.asked.channel));
}

/** Those that this person may see, in their order. What there are too many channels to ask about counts as private. */
export async function filterVisible<R extends ExportRun | ListedThread>(
  runs: readonly R[],
  viewer: Viewer,
  isPublic: IsPublic,
): Promise<R[]> {
  const lookedUp = new Set<string>();
  const limitedIsPublic: IsPublic = async (channel) => {
    if (!lookedUp.has(channel) && lookedUp.size >= MAX_CHANNEL_LOOKUPS) return false;
    lookedUp.add(channel);
    return isPublic(channel);
  };
  const visible = await Promise.all(runs.map((run) => canSee(run, viewer, limitedIsPublic)));
  return runs.filter((_, index) => visible[index]);
}
