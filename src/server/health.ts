import { type Dependency, dependencies, type HealthSnapshot, type HealthStore } from '../store/health.ts';

/** State of a dependency, as of the last call to it; `unknown` before the first. */
export type PartState = 'up' | 'down' | 'unknown';

/** The result of this process' last call to each dependency. */
export type Health = ReturnType<typeof createHealth>;

export function createHealth(now: () => number) {
  const snapshots = new Map<Dependency, HealthSnapshot>();
  const listeners: Parameters<Health['subscribe']>[0][] = [];

  function stateOf(part: Dependency): PartState {
    const last = snapshots.get(part);
    if (last === undefined) return 'unknown';
    return last.answered ? 'up' : 'down';
  }

  return {
    /** Records a call. `answered`: any answer, even a refusal, unless Slack refused the token. */
    record(part: Dependency, answered: boolean, refused = false, problems: string[] = []) {
      const before = snapshots.get(part);
      const state = {
        answered,
        ...(refused && { refused: true as const }),
        ...(problems.length > 0 && { problems }),
      };
      const changed = JSON.stringify({ ...before, atMs: 0 }) !== JSON.stringify({ ...state, atMs: 0 });
      const latest: HealthSnapshot = { ...state, atMs: now() };
      snapshots.set(part, latest);
      for (const listener of listeners) listener(part, latest, changed);
    },
    states: (): Record<Dependency, PartState> => ({ docs: stateOf('docs'), slack: stateOf('slack') }),
    snapshots: (): Partial<Record<Dependency, HealthSnapshot>> => Object.fromEntries(snapshots),
    /** Calls `listener` for every call from now on. */
    subscribe: (listener: (part: Dependency, seen: HealthSnapshot, changed: boolean) => void) =>
      void listeners.push(listener),
  };
}

/** An unchanged state is saved again at most this often. */
const SHARE_INTERVAL_MS = 3000;

/**
 * Saves each state for the other processes. Only one write per dependency runs at a time: while Redis is away, states
 * do not pile up, and the next call saves the latest.
 */
export function shareHealth(health: Health, store: HealthStore, onError: (error: Error) => void): void {
  const sharedAtMs = new Map<Dependency, number>();
  const writing = new Set<Dependency>();

  async function share(part: Dependency) {
    writing.add(part);
    try {
      for (;;) {
        const latest = health.snapshots()[part];
        if (latest === undefined) return;
        sharedAtMs.set(part, latest.atMs);
        await store.save(part, latest);
        const now = health.snapshots()[part];
        if (JSON.stringify({ ...now, atMs: 0 }) === JSON.stringify({ ...latest, atMs: 0 })) return;
      }
    } catch (error) {
      sharedAtMs.delete(part);
      onError(error instanceof Error ? error : new Error(String(error)));
    } finally {
      writing.delete(part);
    }
  }

  health.subscribe((part, { atMs }, changed) => {
    const due = changed || atMs - (sharedAtMs.get(part) ?? 0) >= SHARE_INTERVAL_MS;
    if (due && !writing.has(part)) void share(part);
  });
  for (const part of dependencies) if (health.snapshots()[part] !== undefined) void share(part);
}
