import { type ThreadRun, threadRun } from '../jobs/agent/thread.ts';
import { visibleTo } from '../jobs/may-see.ts';
import { messageAddress } from '../slack/text.ts';
import { UnreadableRun } from '../store/runs.ts';
import type { Caller, CommandTools } from './command.ts';

/**
 * The threads that follow a job, are among the `wanted` and that this person may see, the latest first. Rejects with
 * `TellUser`.
 */
export async function threadsFor(
  caller: Caller,
  { intake, isPublic }: Pick<CommandTools, 'intake' | 'isPublic'>,
  wanted: (thread: ThreadRun) => boolean,
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
  const threads = found
    .flatMap((thread) => thread ?? [])
    .filter((thread) => thread.state !== 'ended' && wanted(thread));
  return visibleTo(threads, caller, isPublic);
}

/** The address of a thread, once it has a place. */
export function addressOf({ place }: ThreadRun, { workspaceUrl }: Pick<CommandTools, 'workspaceUrl'>) {
  return place && messageAddress(workspaceUrl, { channel: place.channel, ts: place.rootTs });
}
