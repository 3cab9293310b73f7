import type { Log } from './log.ts';
import { Stopping } from './stopping.ts';

/** What a process opened, to be closed in reverse order. */
export interface Closers {
  /** Aborted with `Stopping` before anything is closed, so that no new call to the outside begins. */
  stopping: AbortSignal;
  add(close: () => Promise<unknown> | unknown): void;
  /** Aborts `stopping`. */
  stop(): void;
  /** Aborts `stopping` and closes everything, once. A failure is logged and does not hold up the rest. */
  closeAll(): Promise<void>;
}

export function createClosers(log: Log): Closers {
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
    stopping: stopping.signal,
    stop,
    add: (close) => void closers.push(close),
    closeAll() {
      closed ??= run();
      return closed;
    },
  };
}
