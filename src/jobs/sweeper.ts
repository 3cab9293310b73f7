import type { Log } from '../log.ts';

export interface SweeperParts {
  /** What has to have a BullMQ job; called functions give it one unless it has. */
  find: () => Promise<(() => Promise<void>)[]>;
  everyMs: number;
  log: Log;
}

/** Again and again finds work that is recorded but has no BullMQ job: something died between the two. */
export function startSweeper({ find, everyMs, log }: SweeperParts): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  // One that cannot be given its job must not keep the others from theirs.
  const failed = (error: unknown) => log.warn({ err: error }, 'sweep failed');

  async function sweep() {
    try {
      for (const ensure of await find()) await ensure().catch(failed);
    } catch (error) {
      failed(error);
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
