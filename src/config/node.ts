import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { repeat } from '../runtime/stopping.ts';

// On a machine with gigabytes of memory, V8 lets the heap grow to four times its live data. A lower limit costs a few
// percent of CPU time under load. Loading modules must not leave a large space for new objects behind.
setFlagsFromString('--heap-growing-percent=60');
setFlagsFromString('--semi-space-growth-factor=1');

/** Lets the space for new objects grow with the load, after the start. */
export const allowGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=2');

const REST_CHECK_MS = 60_000;

/** Less of a core in the last minute is rest: running exports and their polls take more. */
const REST_UTILIZATION = 0.02;

/** The memory that the process may have grown by since the last collection. */
const REST_GROWTH_BYTES = 20_000_000;

/**
 * Gives memory back once Docket is at rest. V8 keeps the heap of the last rush until new work fills it. So after a quiet
 * minute, a process that has grown collects its garbage, which takes some ten milliseconds.
 */
export function collectAtRest(stopping: AbortSignal): void {
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  const { memoryUsage } = process;
  let busy = performance.eventLoopUtilization();
  let bytes = memoryUsage.rss();
  const check = async () => {
    const { utilization } = performance.eventLoopUtilization(busy);
    busy = performance.eventLoopUtilization();
    if (utilization > REST_UTILIZATION || memoryUsage.rss() < bytes + REST_GROWTH_BYTES) return;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    bytes = memoryUsage.rss();
  };
  void repeat(stopping, () => REST_CHECK_MS, check);
}
