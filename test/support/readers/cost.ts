/** Whoever writes can choose the text; how long it is must cost no more than its length. */
export type Reader = (text: string) => unknown;

/** Time of the processor that one call took, in milliseconds: what others on the machine do does not count. */
function cost(read: Reader, text: string, atLeastMs: number): number {
  const before = process.threadCpuUsage();
  for (let calls = 1; ; calls += 1) {
    read(text);
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= atLeastMs * 1000) return (user + system) / 1000 / calls;
  }
}

/** Nobody has to wait for less, whatever the ratio; what takes the square of its length takes far more. */
const NOTHING_MS = 50;

/** The clock of the processor goes on in steps of up to 4 ms. */
const MEASURED_MS = 40;

/** Above what four times the text costs, with room for garbage that is collected and for caches that are full. */
export const RATIO = 8;

/** On a busy machine, the clock on the wall alone says only what is quick. */
export function isQuick(read: Reader, text: string): boolean {
  const from = performance.now();
  read(text);
  return performance.now() - from < NOTHING_MS || cost(read, text, 0) < NOTHING_MS;
}

/**
 * How many times as much the long text costs as the short one. What disturbs a measure only adds to it, so the least
 * of several counts, and one of the long text that is cheap enough is enough.
 */
export function ratioOf(read: Reader, short: string, long: string): number {
  const least = (text: string, times: number, enoughMs = 0) => {
    let leastMs = Number.POSITIVE_INFINITY;
    for (let time = 0; time < times && leastMs > enoughMs; time += 1)
      leastMs = Math.min(leastMs, cost(read, text, MEASURED_MS));
    return leastMs;
  };
  const shortMs = least(short, 3);
  // Beside processes that use up the caches, only a lucky measure is undisturbed.
  return least(long, 20, RATIO * shortMs) / shortMs;
}
