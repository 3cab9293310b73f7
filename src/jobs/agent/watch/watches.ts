import { z } from 'zod';
import type { JobContext } from '../../context.ts';
import type { ThreadRun } from '../thread/record.ts';
import { type WatchRun, watchId, watchRun } from './record.ts';
import { newWatch, removeThread } from './transitions.ts';

type WatchContext = Pick<JobContext, 'runs' | 'wake' | 'now'>;

/** Nobody was refused a watch: it may be written whenever Redis comes to it. */
const NO_DEADLINE = Number.MAX_SAFE_INTEGER;

/** Returns the watch of the job that a thread follows, if there is one. Throws a `ZodError` for a damaged one. */
export async function loadWatch(
  { teamId, project, agentJobId }: ThreadRun,
  { runs }: WatchContext,
): Promise<WatchRun | undefined> {
  return agentJobId === undefined ? undefined : runs.load(watchId(teamId, project, agentJobId), watchRun);
}

/**
 * Changes the watch of a thread's job, makes it where there is none, and wakes it where it has something to do. Returns
 * it as it is then. Several threads and the watch's own step may change it at once: whoever is late tries again.
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

/** Returns whether a watch has something to do after this change, for which it is woken. */
function needsStep(before: WatchRun, after: WatchRun): boolean {
  // Where nothing changed, whoever changed it may have died before it was woken. In a round it is awake already.
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
