/**
 * Slack's clock, as far as its answers tell it. `monotonicMs` is a clock that nobody sets: the time of day of this
 * machine may be wrong, and may be put right meanwhile.
 */
export function createSlackClock(monotonicMs: () => number) {
  let last: { atMs: number; upMs: number } | undefined;
  return {
    /** Takes the `Date` header of an answer. */
    update(date: string | null): void {
      const atMs = Date.parse(date ?? '');
      if (!Number.isNaN(atMs)) last = { atMs, upMs: monotonicMs() };
    },
    /** Returns epoch milliseconds, no later than Slack's clock reads now; `undefined` before the first answer. */
    nowMs: () => last && Math.floor(last.atMs + monotonicMs() - last.upMs),
  };
}
