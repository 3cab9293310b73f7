import type { Log } from '../runtime/log.ts';

export interface SweeperParts {
  /** What is overdue; called functions have it worked on. */
  find: () => Promise<(() => Promise<void>)[]>;
  everyMs: number;
  log: Log;
}

/** What is given its job at the same time: fewer trips to Redis, and others still get their turn there. */
const BATCH_SIZE = 50;

/** Again and again finds work that is overdue and sees to it that it is done. */
export function startSweeper({ find, everyMs, log }: SweeperParts): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  // One that cannot be given its job must not keep the others from theirs.
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
