import type { Log } from '../runtime/log.ts';
import { type RunStore, UnreadableRun } from '../store/runs.ts';
import { done, lookAgainIn, type Outcome } from './job.ts';

/** How often a record that cannot be read is tried again. */
export const UNREADABLE_MS = 60_000;

/**
 * One look at a run, which `load` gives with whatever belongs to it. One that is gone is looked at no more; one that
 * cannot be read was written by a newer Docket, and is left to that one as it is.
 */
export async function lookAtRun<T>(
  job: string,
  runId: string,
  load: () => Promise<T | undefined>,
  { runs, log }: { runs: Pick<RunStore, 'forget'>; log: Log },
  look: (loaded: T) => Promise<Outcome>,
): Promise<Outcome> {
  let loaded: T | undefined;
  try {
    loaded = await load();
  } catch (error) {
    if (!(error instanceof UnreadableRun)) throw error;
    log.info({ run: runId, job, err: error }, 'a run cannot be read, and is left to a newer Docket');
    return lookAgainIn(UNREADABLE_MS);
  }
  if (loaded !== undefined) return look(loaded);
  await runs.forget(job, runId);
  return done;
}
