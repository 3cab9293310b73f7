import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../runtime/log.ts';
import type { ShutdownHooks } from '../runtime/shutdown-hooks.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import type { RunBase } from '../store/runs.ts';

/** The run for a worker to step. */
export type WokenRun = Pick<RunBase, 'job' | 'id'>;

export interface Waker {
  /** Queues a run for a step, after the present turn. Nothing waits for it: if queueing fails, the sweeper does it. */
  wake(run: WokenRun): void;
  /** Resolves when all earlier wakes are queued, or have failed: within 400 ms. */
  settled(): Promise<void>;
}

/** Time limit for queueing. */
const ENQUEUE_TIMEOUT_MS = 400;

/** Returns what wakes the runs of requests, by `enqueue`; a process that stops waits for it. */
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
