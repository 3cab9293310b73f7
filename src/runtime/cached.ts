/** Maximum number of cached results, so that a large workspace cannot fill the memory. */
const MAX_CACHED = 5000;

export interface CacheParts {
  /** How long a look-up may take before the next caller starts another one. */
  timeoutMs: number;
  cacheMs: number;
  now: () => number;
}

/** Returns the look-up with a cache of its results. Calls during a look-up share it until `timeoutMs` have passed. */
export function cached<T>({ timeoutMs, cacheMs, now }: CacheParts, load: (id: string) => Promise<T>) {
  const known = new Map<string, { value: Promise<T>; untilMs: number }>();
  return (id: string): Promise<T> => {
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

interface ChangeSaverParts<Name, State> {
  save(name: Name, state: State): Promise<unknown>;
  /** An unchanged state is saved again at most this often. */
  everyMs: number;
  now: () => number;
  onError: (error: Error) => void;
}

/** Returns a function that saves a state if it changed, was last saved long ago, or could not be saved. */
export function createChangeSaver<Name, State>(parts: ChangeSaverParts<Name, State>) {
  const { save, everyMs, now, onError } = parts;
  const saved = new Map<Name, { text: string; atMs: number }>();
  return (name: Name, state: State): void => {
    const text = JSON.stringify(state);
    const last = saved.get(name);
    if (last?.text === text && now() - last.atMs < everyMs) return;
    saved.set(name, { text, atMs: now() });
    save(name, state).catch((error: Error) => {
      saved.delete(name);
      onError(error);
    });
  };
}
