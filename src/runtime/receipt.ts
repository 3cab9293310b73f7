/** How often the process shows that it runs, and how late that may be before it counts as a stall. */
const BEAT_MS = 250;
const STALL_MS = 1000;

/** Requests that are read so soon after a stall may have come during it. */
const BACKLOG_MS = 500;

/**
 * Returns a clock for the receipt of requests. If the process was frozen or busy, requests have waited unread, and Slack
 * may have shown their senders an error. Such a request counts as received when the stall began, so that its deadline
 * has passed. Times are of the monotonic clock.
 */
export function createReceiptClock(monotonicMs: () => number) {
  let beatAtMs = monotonicMs();
  let stall = { fromMs: 0, untilMs: 0 };

  function beat() {
    const nowMs = monotonicMs();
    if (nowMs - beatAtMs > BEAT_MS + STALL_MS) {
      // What came during an earlier stall may still wait.
      const fromMs = beatAtMs < stall.untilMs ? stall.fromMs : beatAtMs;
      stall = { fromMs, untilMs: nowMs + BACKLOG_MS };
    }
    beatAtMs = nowMs;
  }
  const timer = setInterval(beat, BEAT_MS).unref();

  return {
    /** The earliest time at which a request that is read now may have come. */
    receivedMs(): number {
      // A request may be read before the timer.
      beat();
      return beatAtMs < stall.untilMs ? stall.fromMs : beatAtMs;
    },
    stop: () => clearInterval(timer),
  };
}
