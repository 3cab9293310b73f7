import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './log.ts';

/**
 * The process is stopping. Thrown instead of a call to the docs platform or to Slack, so that call did not happen; the
 * worker hands the job back for another process.
 */
export class Stopping extends Error {
  override readonly name = 'Stopping';

  constructor() {
    super('the process is stopping');
  }
}

/** Returns the same parts. Once `stopping` is aborted, their functions throw its reason instead of running. */
export function rejectWhenStopping<Parts extends object>(stopping: AbortSignal, parts: Parts): Parts {
  const guarded = Object.entries(parts).map(([name, part]) => {
    if (typeof part !== 'function') return [name, part];
    const call = (...args: unknown[]) => {
      stopping.throwIfAborted();
      return part(...args);
    };
    return [name, call];
  });
  return Object.fromEntries(guarded) as Parts;
}

/** Does `work` after each pause until `stopping` is aborted; `pauseMs` returns its length. `work` must not reject. */
export async function repeat(stopping: AbortSignal, pauseMs: () => number, work: () => Promise<unknown>) {
  while (!stopping.aborted) {
    await sleep(pauseMs(), undefined, { signal: stopping, ref: false }).catch(() => {});
    if (!stopping.aborted) await work();
  }
}

/** The open resources of a process, which are closed in reverse order. */
export type ShutdownHooks = ReturnType<typeof createShutdownHooks>;

export function createShutdownHooks(log: Log) {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const stopping = new AbortController();
  let closed: Promise<void> | undefined;

  const stop = () => stopping.abort(new Stopping());

  async function run() {
    stop();
    for (const close of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        log.warn({ err: error }, 'closing a part failed');
      }
    }
  }

  return {
    /** Aborted with `Stopping` before anything is closed, so that no new outside call begins. */
    stopping: stopping.signal,
    /** Aborts `stopping`. */
    stop,
    add: (close: () => Promise<unknown> | unknown) => void closers.push(close),
    /** Aborts `stopping` and closes everything, once. A failure is logged and does not stop the rest. */
    closeAll() {
      closed ??= run();
      return closed;
    },
  };
}
