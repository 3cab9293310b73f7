const HOUR_MS = 3_600_000;

/** Uses within any past hour. */
export interface Budget {
  used(): number;
  /** Counts one use; when the limit is reached it counts nothing and says how long until one is free. */
  use(): { waitMs: number } | undefined;
}

export function createBudget(limit: number, nowMs: () => number): Budget {
  let uses: number[] = [];

  function recent(): number[] {
    uses = uses.filter((atMs) => atMs > nowMs() - HOUR_MS);
    return uses;
  }

  return {
    used: () => recent().length,
    use() {
      const [oldest] = recent();
      if (uses.length >= limit && oldest !== undefined) return { waitMs: oldest + HOUR_MS - nowMs() };
      uses.push(nowMs());
      return undefined;
    },
  };
}
