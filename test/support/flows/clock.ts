/** The time of a world: its bots in the test's process and its stand-ins share it. */
export interface WorldClock {
  /** Epoch milliseconds. It runs on by itself. */
  now(): number;
  moveTo(ms: number): void;
}

export function createWorldClock(startMs: number | undefined): WorldClock {
  let aheadMs = startMs === undefined ? 0 : startMs - Date.now();
  return {
    now: () => Date.now() + aheadMs,
    moveTo(ms) {
      aheadMs = ms - Date.now();
    },
  };
}
