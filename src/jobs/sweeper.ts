import type { Log } from '../runtime/log.ts';
import type { DueStore } from '../store/due.ts';
import type { RunRef } from '../store/run-scripts.ts';
import { LONGEST_PAUSE_MS } from './workers.ts';

export interface SweeperParts {
  due: DueStore;
  wake: (run: RunRef) => Promise<void>;
  /** Further work of each process at this interval. */
  alsoDo: () => Promise<unknown>;
  everyMs: number;
  log: Log;
}

/** Entries woken at once: few trips to Redis, with room for other commands in between. */
const BATCH_SIZE = 50;

/** How late an entry is overdue, as a part of `everyMs`. */
const SWEEP_LATENESS = 0.2;

/** Wakes overdue entries every `everyMs`. A failed wake does not stop the others. */
export function startSweeper({ due, wake, alsoDo, everyMs, log }: SweeperParts): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const logFailure = (error: unknown) => log.warn({ err: error }, 'sweep failed');

  async function wakeOverdue() {
    const overdue = await due.overdue(everyMs * SWEEP_LATENESS, LONGEST_PAUSE_MS);
    for (let from = 0; from < overdue.length; from += BATCH_SIZE)
      await Promise.all(overdue.slice(from, from + BATCH_SIZE).map((run) => wake(run).catch(logFailure)));
  }

  async function sweep() {
    try {
      await wakeOverdue();
      await alsoDo();
    } catch (error) {
      logFailure(error);
    }
    if (!stopped) timer = setTimeout(sweep, everyMs);
  }

  timer = setTimeout(sweep, everyMs);
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
