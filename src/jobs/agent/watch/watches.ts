import { z } from 'zod';
import type { JobContext } from '../../context.ts';
import type { ThreadRun } from '../thread/record.ts';
import { type WatchRun, watchId, watchRun } from './record.ts';
import { newWatch, removeThread } from './transitions.ts';

type WatchContext = Pick<JobContext, 'runs' | 'wake' | 'now'>;

/** No person was refused a watch, so Redis may write it at any time. */
const NO_DEADLINE = Number.MAX_SAFE_INTEGER;

/** Returns the watch of a thread's job, or undefined if there is none. Throws a `ZodError` for a damaged one. */
export async function loadWatch(
  { teamId, project, agentJobId }: ThreadRun,
  { runs }: WatchContext,
): Promise<WatchRun | undefined> {
  return agentJobId === undefined ? undefined : runs.load(watchId(teamId, project, agentJobId), watchRun);
}

/**
 * Changes the watch of a thread's job, creates it if it is missing, and wakes it if it has work. Returns the new watch.
 * Several threads and the watch's own step may change it concurrently: a conflict is retried.
 */
export async function updateWatch(
  thread: ThreadRun,
  transition: (watch: WatchRun) => WatchRun,
  context: WatchContext,
): Promise<WatchRun> {
  const { runs, wake, now } = context;
  const { teamId, project, agentJobId } = thread;
  if (agentJobId === undefined) throw new Error('a thread that is watched has an agent job');
  for (;;) {
    const watch = await loadWatch(thread, context);
    if (watch === undefined) {
      await runs.accept(newWatch(teamId, project, agentJobId, now()), NO_DEADLINE, 0, undefined);
      continue;
    }
    const next = transition(watch);
    const saved = next === watch ? watch : await runs.save(next);
    if (saved === undefined) continue;
    if (needsStep(watch, saved)) {
      await runs.markDue(saved.job, saved.id);
      await wake(saved);
    }
    return saved;
  }
}

/** Returns whether the change gives the watch work, so that it must be woken. */
function needsStep(before: WatchRun, after: WatchRun): boolean {
  // If nothing changed, an earlier writer may have died before it woke the watch. In a round it is awake already.
  const isOpen = after.round !== undefined && (after === before || before.round === undefined);
  return isOpen || after.pollRequested || after.untold;
}

/** Takes a thread out of the watch of its job. A damaged watch is left as it is. */
export async function leaveWatch(thread: ThreadRun, context: WatchContext): Promise<void> {
  const watch = await loadWatch(thread, context).catch((error: unknown) => {
    if (!(error instanceof z.ZodError)) throw error;
  });
  if (watch === undefined) return;
  await updateWatch(thread, (watch) => removeThread(watch, thread.id), context);
}
