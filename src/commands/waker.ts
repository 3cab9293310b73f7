import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../runtime/log.ts';
import type { ShutdownHooks } from '../runtime/shutdown-hooks.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import type { RunBase } from '../store/runs.ts';

/** Which run a worker is to step. */
export type WokenRun = Pick<RunBase, 'job' | 'id'>;

export interface Waker {
  /**
   * Has a worker step a run, right after what is under way. Nobody waits for it: the sweeper queues what could not be
   * queued.
   */
  wake(run: WokenRun): void;
  /** Resolves when all that was woken so far is queued, or could not be: within 400 ms. */
  settled(): Promise<void>;
}

/** How long queueing may take. */
const ENQUEUE_TIMEOUT_MS = 400;

/** Returns what wakes the runs that requests leave behind, by `enqueue`; a process that stops waits for it. */
export function createWaker(
  enqueue: (run: WokenRun) => Promise<void>,
  closers: Pick<ShutdownHooks, 'add'>,
  log: Log,
): Waker {
  const queueing = new Set<Promise<void>>();

  function keep(queued: Promise<void>) {
    queueing.add(queued);
    void queued.finally(() => queueing.delete(queued));
  }

  async function queue(run: WokenRun) {
    try {
      await withTimeout(ENQUEUE_TIMEOUT_MS, enqueue(run));
    } catch (error) {
      log.warn({ err: error, run: run.id }, 'saved but not queued; sweeper will retry');
    }
  }

  const settled = async () => void (await Promise.all(queueing));
  closers.add(settled);

  return {
    // The answer to the request goes first.
    wake: (run) => keep(nextTurn().then(() => queue(run))),
    settled,
  };
}
