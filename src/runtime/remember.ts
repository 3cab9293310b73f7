/** Answers remembered at once, so that a large workspace cannot fill the memory. */
const MAX_CACHED = 5000;

export interface RememberParts {
  /** How long an answer may take before it is asked for again. */
  timeoutMs: number;
  cacheMs: number;
  now: () => number;
}

/**
 * The same look-up, but asked once in a while: results are believed for `cacheMs`, failures are not kept, and who
 * asks meanwhile waits for the same answer, unless that has been waited for too long already.
 */
export function remember<T>(
  { timeoutMs, cacheMs, now }: RememberParts,
  load: (id: string) => Promise<T>,
): (id: string) => Promise<T> {
  const known = new Map<string, { value: Promise<T>; untilMs: number }>();
  return (id) => {
    const askedMs = now();
    const cached = known.get(id);
    if (cached && cached.untilMs > askedMs) return cached.value;
    if (known.size >= MAX_CACHED) known.clear();
    const entry = { value: load(id), untilMs: askedMs + timeoutMs };
    known.set(id, entry);
    entry.value.then(
      () => {
        entry.untilMs = askedMs + cacheMs;
      },
      () => known.get(id) === entry && known.delete(id),
    );
    return entry.value;
  };
}
