import {
  type ListedThread,
  listedThread,
  type ThreadRun,
  threadRun,
} from '../../jobs/agent/thread/record.ts';
import { visibleThread } from '../../jobs/agent/thread/visible.ts';
import { filterVisible } from '../../jobs/visibility.ts';
import type { Caller, CommandTools } from '../tools.ts';

/**
 * Returns the `wanted` threads that follow a job and that this person may see, `most` of them, and how many more there
 * are: those that go `first`, then the others, the latest first. Rejects with `TellUser`.
 */
export async function findThreads(
  caller: Caller,
  { intake, isPublic }: Pick<CommandTools, 'intake' | 'isPublic'>,
  max: number,
  matches: (thread: ListedThread) => boolean = () => true,
  isPreferred: (thread: ListedThread) => boolean = () => false,
): Promise<{ threads: ThreadRun[]; rest: number }> {
  const listed = await intake.listFollowed(caller.teamId, listedThread, caller);
  const open = listed.filter((thread) => thread.state !== 'ended' && matches(thread));
  const visible = await filterVisible(open, visibleThread, caller, isPublic);
  const inOrder = [...visible.filter(isPreferred), ...visible.filter((thread) => !isPreferred(thread))];
  const ids = inOrder.slice(0, max).map(({ id }) => id);
  const threads = await intake.loadAll(ids, threadRun, caller);
  return {
    threads: threads.filter(({ state }) => state !== 'ended'),
    rest: Math.max(0, visible.length - max),
  };
}
