import { type ThreadRun, threadRun } from '../jobs/agent/thread.ts';
import { messageAddress } from '../slack/text.ts';
import { UnreadableRun } from '../store/runs.ts';
import type { Caller, CommandTools } from './command.ts';

/** The threads that follow a job and that this person may see, the latest first. Rejects with `TellUser`. */
export async function threadsFor(
  caller: Caller,
  { intake }: Pick<CommandTools, 'intake'>,
): Promise<ThreadRun[]> {
  const ids = await intake.followed(caller.teamId, caller);
  const found = await Promise.all(
    ids.map((id) =>
      intake.load(id, threadRun, caller).catch((error: unknown) => {
        if (error instanceof UnreadableRun) return undefined;
        throw error;
      }),
    ),
  );
  return found
    .flatMap((thread) => thread ?? [])
    .filter((thread) => thread.state !== 'ended' && maySee(thread, caller));
}

/** Whether a thread is where this person can read it. Only full members can enter public channels. */
export function maySee(thread: ThreadRun, { user, channel }: Pick<Caller, 'user' | 'channel'>): boolean {
  if (thread.owner.id === user.id) return true;
  if (thread.inDirectMessage) return false;
  return isIn(thread, channel.id) || (thread.asked.isPublic && user.fullMember);
}

/** Whether a thread is in this channel, or was asked for there. */
export const isIn = ({ asked, place }: ThreadRun, channel: string) =>
  asked.channel === channel || place?.channel === channel;

/** The address of a thread, once it has a place. */
export function addressOf({ place }: ThreadRun, { workspaceUrl }: Pick<CommandTools, 'workspaceUrl'>) {
  return place && messageAddress(workspaceUrl, { channel: place.channel, ts: place.rootTs });
}
