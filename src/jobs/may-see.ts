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
const ASKED = 30;

/** Whether a thread is in this channel, or was asked for there. */
export const isIn = ({ asked, place }: Pick<ListedThread, 'asked' | 'place'>, channel: string) =>
  asked.channel === channel || place?.channel === channel;

/**
 * Whether the messages of a run are where this person can read them. Only full members can enter public channels, and
 * a channel that was public when it was asked for may be private by now.
 */
export async function maySee(
  run: ExportRun | ListedThread,
  { user, channel }: Viewer,
  isPublic: IsPublic,
): Promise<boolean> {
  const by = run.job === 'export' ? run.requester : run.owner;
  if (by.id === user.id) return true;
  if (run.inDirectMessage) return false;
  if (run.job === 'export' ? run.asked.channel === channel.id : isIn(run, channel.id)) return true;
  return run.asked.isPublic && user.fullMember && (await isPublic(run.asked.channel));
}

/** Those that this person may see, in their order. What there are too many channels to ask about counts as private. */
export async function visibleTo<R extends ExportRun | ListedThread>(
  runs: readonly R[],
  viewer: Viewer,
  isPublic: IsPublic,
): Promise<R[]> {
  const asked = new Set<string>();
  const atMost: IsPublic = async (channel) => {
    if (!asked.has(channel) && asked.size >= ASKED) return false;
    asked.add(channel);
    return isPublic(channel);
  };
  const seen = await Promise.all(runs.map((run) => maySee(run, viewer, atMost)));
  return runs.filter((_, index) => seen[index]);
}
