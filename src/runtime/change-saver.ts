interface ChangeSaverParts<Name, State> {
  save(name: Name, state: State): Promise<unknown>;
  /** An unchanged state is saved again at most this often. */
  everyMs: number;
  now: () => number;
  onError: (error: Error) => void;
}

/**
 * Returns a function that takes the present state of something, and saves it if it changed, or was last saved long ago.
 * After a failure, the next call saves it.
 */
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
