/** The time of one process of a bench, which goes on at another time when it is told to. */
export function createMovedTime() {
  let aheadMs = 0;
  return {
    now: () => Date.now() + aheadMs,
    /** Milliseconds ahead of the machine's clock. */
    move(ms: number) {
      aheadMs = ms;
    },
  };
}
