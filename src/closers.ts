import type { Log } from './log.ts';

/** Things to close in the reverse order of their opening. */
export interface Closers {
  add(close: () => Promise<unknown> | unknown): void;
  /** Closes everything once; what fails is logged and does not hold up the rest. */
  closeAll(): Promise<void>;
}

export function createClosers(log: Log): Closers {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  let closed: Promise<void> | undefined;

  async function run() {
    for (const close of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        log.warn({ err: error }, 'closing a part failed');
      }
    }
  }

  return {
    add: (close) => void closers.push(close),
    closeAll() {
      closed ??= run();
      return closed;
    },
  };
}
