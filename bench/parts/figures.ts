/** Returns the value that a fraction `q` of the numbers does not exceed; `NaN` when there are none. */
export function quantile(numbers: readonly number[], q: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (numbers: readonly number[]) => quantile(numbers, 0.5);

/** Returns the most moments that fall into any window of this length. */
export function peak(momentsMs: readonly number[], windowMs: number): number {
  const sorted = momentsMs.toSorted((a, b) => a - b);
  let most = 0;
  let from = 0;
  for (const [index, atMs] of sorted.entries()) {
    while ((sorted[from] ?? atMs) <= atMs - windowMs) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

/** Returns the largest pause between two neighbours. */
export function longestPauseMs(momentsMs: readonly number[]): number {
  return Math.max(0, ...momentsMs.slice(1).map((atMs, index) => atMs - (momentsMs[index] ?? atMs)));
}
