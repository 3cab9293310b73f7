import type { Log } from '../log.ts';

export interface SweeperParts {
  /** What has to have a job, as stable names. */
  find: () => Promise<string[]>;
  /** Gives one of them its job, unless it has one. */
  ensure: (name: string) => Promise<void>;
  everyMs: number;
  log: Log;
}

/**
 * Finds work that is recorded but has no BullMQ job, since a process died or Redis went away between the two.
 * Only what two sweeps in a row have seen is touched: the process that wrote it may be about to queue it, or to
 * take it back.
 */
export function startSweeper({ find, ensure, everyMs, log }: SweeperParts): { stop(): void } {
  let seen = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function sweep() {
    try {
      const found = await find();
      for (const name of found) {
        if (seen.has(name)) await ensure(name);
      }
      seen = new Set(found);
    } catch (error) {
      log.warn({ err: error }, 'sweep failed');
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
