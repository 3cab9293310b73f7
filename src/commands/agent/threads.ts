import {
  type ListedThread,
  listedThread,
  type ThreadRun,
  threadRun,
} from '../../jobs/agent/thread/record.ts';
import { visibleTo } from '../../jobs/may-see.ts';
import { messageAddress } from '../../slack/text.ts';
import type { Caller, CommandTools } from '../command.ts';

/**
 * Returns the `wanted` threads that follow a job and that this person may see, `most` of them, and how many more there
 * are: those that go `first`, then the others, the latest first. Rejects with `TellUser`.
 */
export async function threadsFor(
  caller: Caller,
  { intake, isPublic }: Pick<CommandTools, 'intake' | 'isPublic'>,
  most: number,
  wanted: (thread: ListedThread) => boolean = () => true,
  first: (thread: ListedThread) => boolean = () => false,
): Promise<{ threads: ThreadRun[]; rest: number }> {
  const listed = await intake.followed(caller.teamId, listedThread, caller);
  const open = listed.filter((thread) => thread.state !== 'ended' && wanted(thread));
  const visible = await visibleTo(open, caller, isPublic);
  const inOrder = [...visible.filter(first), ...visible.filter((thread) => !first(thread))];
  const ids = inOrder.slice(0, most).map(({ id }) => id);
  const threads = await intake.loadAll(ids, threadRun, caller);
  return {
    threads: threads.filter(({ state }) => state !== 'ended'),
    rest: Math.max(0, visible.length - most),
  };
}

/** The address of a thread, once it has a place. */
export function addressOf({ place }: ThreadRun, { workspaceUrl }: Pick<CommandTools, 'workspaceUrl'>) {
  return place && messageAddress(workspaceUrl, { channel: place.channel, ts: place.rootTs });
}
