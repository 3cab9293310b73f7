import type { Log } from './log.ts';
import { Stopping } from './stopping.ts';

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
