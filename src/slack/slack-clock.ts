/**
 * Returns Slack's clock, from the `Date` of its responses. `monotonicMs` advances it, since the machine's time of day
 * may be wrong or change.
 */
export function createSlackClock(monotonicMs: () => number) {
  let last: { atMs: number; upMs: number } | undefined;
  return {
    /** Sets the clock by the `Date` header of a response. */
    update(date: string | null): void {
      const atMs = Date.parse(date ?? '');
      if (!Number.isNaN(atMs)) last = { atMs, upMs: monotonicMs() };
    },
    /** Returns epoch milliseconds, no later than Slack's clock now; undefined before the first response. */
    nowMs: () => last && Math.floor(last.atMs + monotonicMs() - last.upMs),
  };
}
