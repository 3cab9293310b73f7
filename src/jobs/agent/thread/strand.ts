import { orWait, type Wait } from '../../../runtime/later.ts';
import type { JobContext } from '../../engine/context.ts';
import type { Save } from '../../engine/job.ts';
import type { ThreadEvent, ThreadRun } from './record.ts';

/**
 * One concern of a thread. It returns its change, or when it is due, which it may also throw as `Later`; nothing while
 * there is nothing to do.
 */
export type Strand = (
  thread: ThreadRun,
  context: JobContext,
  events: readonly ThreadEvent[],
) => Promise<Save<ThreadRun> | Wait | undefined>;

/** Returns the first change, or when the first of the strands is due. One that is due at once lets none come before it. */
export async function follow(
  strands: readonly Strand[],
  ...of: Parameters<Strand>
): Promise<Save<ThreadRun> | Wait | undefined> {
  let next: Wait | undefined;
  for (const strand of strands) {
    const result = await orWait(strand(...of));
    if (result?.kind === 'save' || result?.inMs === 0) return result;
    if (result && result.inMs < (next?.inMs ?? Infinity)) next = result;
  }
  return next;
}
