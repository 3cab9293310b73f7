const HOUR_MS = 3_600_000;

/** Uses within any past hour, or another time. */
export interface Budget {
  used(): number;
  /** Counts one use; when the limit is reached it counts nothing and says how long until one is free. */
  use(): { waitMs: number } | undefined;
  clear(): void;
}

export function createBudget(limit: number, nowMs: () => number, windowMs = HOUR_MS): Budget {
  let uses: number[] = [];

  function recent(): number[] {
    uses = uses.filter((atMs) => atMs > nowMs() - windowMs);
    return uses;
  }

  return {
    used: () => recent().length,
    use() {
      const [oldest] = recent();
      if (uses.length >= limit && oldest !== undefined) return { waitMs: oldest + windowMs - nowMs() };
      uses.push(nowMs());
      return undefined;
    },
    clear: () => void uses.splice(0),
  };
}
