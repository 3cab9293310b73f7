/** The time of one process of a bench, which jumps to another time on request. */
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
