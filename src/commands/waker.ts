import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../runtime/log.ts';
import { within } from '../runtime/within.ts';
import type { RunBase } from '../store/runs.ts';

export interface Waker {
  /**
   * Has a worker step a run, right after what is under way. Nobody waits for it: the sweeper queues what could not be
   * queued.
   */
  wake(run: Pick<RunBase, 'job' | 'id'>): void;
  /** The same at once, together with a write that was begun just now and is worked on that much sooner. */
  wakeNow(run: Pick<RunBase, 'job' | 'id'>): void;
  /** Resolves when all that was to be woken is queued, or could not be: at most 400 ms after the last wake. */
  settled(): Promise<void>;
}

/** How long queueing may take. */
const ENQUEUE_TIMEOUT_MS = 400;

/** Returns what wakes the runs that requests leave behind, by `enqueue`. */
export function createWaker(enqueue: (run: Pick<RunBase, 'job' | 'id'>) => Promise<void>, log: Log): Waker {
  const queueing = new Set<Promise<void>>();

  function keep(queued: Promise<void>) {
    queueing.add(queued);
    void queued.finally(() => queueing.delete(queued));
  }

  async function queue(run: Pick<RunBase, 'job' | 'id'>) {
    try {
      await within(ENQUEUE_TIMEOUT_MS, enqueue(run));
    } catch (error) {
      log.warn({ err: error, run: run.id }, 'kept, but not queued yet; the sweeper does it');
    }
  }

  return {
    // The answer to the request goes first.
    wake: (run) => keep(nextTurn().then(() => queue(run))),
    wakeNow: (run) => keep(queue(run)),
    async settled() {
      await Promise.all(queueing);
    },
  };
}
