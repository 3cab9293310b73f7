import type { Log } from '../log.ts';
import { type RunStore, UnreadableRun } from '../store/runs.ts';
import { done, lookAgainIn, type Outcome } from './job.ts';

/** How often a run that only a newer Docket can read is looked for: that one may have gone. */
const NEWER_MS = 60_000;

/**
 * One look at a run, which `load` gives with whatever belongs to it. One that is gone, or that nobody can read, is
 * looked at no more; one that a newer Docket wrote is left to that one.
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
    if (error.newer) {
      log.info({ run: runId, job }, 'a run of a newer Docket is left to that one');
      return lookAgainIn(NEWER_MS);
    }
    log.error({ run: runId, job, err: error }, 'a run cannot be read, and is given up');
  }
  if (loaded !== undefined) return look(loaded);
  await runs.forget(job, runId);
  return done;
}
