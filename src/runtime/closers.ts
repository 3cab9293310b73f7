import type { Log } from './log.ts';
import { Stopping } from './stopping.ts';

/** Things to close in the reverse order of their opening. */
export interface Closers {
  /** Aborted with `Stopping` before anything is closed: nothing outside begins any more. */
  stopping: AbortSignal;
  add(close: () => Promise<unknown> | unknown): void;
  /** Aborts `stopping`. */
  stop(): void;
  /** The same, and closes everything once; what fails is logged and does not hold up the rest. */
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
