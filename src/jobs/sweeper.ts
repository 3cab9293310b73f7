import type { Log } from '../runtime/log.ts';

export interface SweeperParts {
  /** Finds what is overdue: functions, each of which wakes one entry. */
  find: () => Promise<(() => Promise<void>)[]>;
  everyMs: number;
  log: Log;
}

/** Entries woken at the same time: few trips to Redis, between which other commands still come. */
const BATCH_SIZE = 50;

/** Wakes what is overdue, every `everyMs`. */
export function startSweeper({ find, everyMs, log }: SweeperParts): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  // One that cannot be woken must not keep the others from it.
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
