/** Slack's clock, as far as its answers tell it. */
export interface SlackClock {
  /** Takes the `Date` header of an answer. */
  update(date: string | null): void;
  /** No later than Slack's clock reads now, in epoch milliseconds; nothing before the first answer. */
  nowMs(): number | undefined;
}

/** `upMs` is a clock that nobody sets: the time of day of this machine may be wrong, and may be put right meanwhile. */
export function createSlackClock(monotonicMs: () => number): SlackClock {
  let last: { atMs: number; upMs: number } | undefined;
  return {
    update(date) {
      const atMs = Date.parse(date ?? '');
      if (!Number.isNaN(atMs)) last = { atMs, upMs: monotonicMs() };
    },
    nowMs: () => last && Math.floor(last.atMs + monotonicMs() - last.upMs),
  };
}
