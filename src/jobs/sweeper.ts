import type { Log } from '../runtime/log.ts';

export interface SweeperParts {
  /** Finds overdue entries; returns one wake function per entry. */
  find: () => Promise<(() => Promise<void>)[]>;
  everyMs: number;
  log: Log;
}

/** Entries woken at once: few trips to Redis, with room for other commands in between. */
const BATCH_SIZE = 50;

/** Wakes overdue entries every `everyMs`. */
export function startSweeper({ find, everyMs, log }: SweeperParts): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  // A failed wake must not stop the others.
  const logFailure = (error: unknown) => log.warn({ err: error }, 'sweep failed');

  async function sweep() {
    try {
      const overdue = await find();
      for (let from = 0; from < overdue.length; from += BATCH_SIZE)
        await Promise.all(overdue.slice(from, from + BATCH_SIZE).map((wake) => wake().catch(logFailure)));
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
