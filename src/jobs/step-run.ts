import type { Log } from '../runtime/log.ts';
import { type RunStore, UnreadableRun } from '../store/runs.ts';
import { done, type Outcome, runAgainIn } from './job.ts';

/** How often a record that cannot be read is tried again. */
export const UNREADABLE_RETRY_MS = 60_000;

/**
 * One look at a run, which `load` gives with whatever belongs to it. One that is gone is looked at no more; one that
 * cannot be read was written by a newer Docket, and is left to that one as it is.
 */
export async function stepRun<T>(
  job: string,
  runId: string,
  load: () => Promise<T | undefined>,
  { runs, log }: { runs: Pick<RunStore, 'unlist'>; log: Log },
  step: (loaded: T) => Promise<Outcome>,
): Promise<Outcome> {
  let loaded: T | undefined;
  try {
    loaded = await load();
  } catch (error) {
    if (!(error instanceof UnreadableRun)) throw error;
    log.info({ run: runId, job, err: error }, 'a run cannot be read, and is left to a newer Docket');
    return runAgainIn(UNREADABLE_RETRY_MS);
  }
  if (loaded !== undefined) return step(loaded);
  await runs.unlist(job, runId);
  return done;
}
