import { type Dependency, dependencies, type HealthSnapshot, type HealthStore } from '../store/health.ts';

/** State of something that Docket depends on, as far as it has been seen. */
export type PartState = 'up' | 'down' | 'unknown';

/** What the last call of this process to each of the others came to. */
export interface Health {
  /** `answered`: it answered at all, if only with a refusal. */
  record(part: Dependency, answered: boolean): void;
  states(): Record<Dependency, PartState>;
  snapshots(): Partial<Record<Dependency, HealthSnapshot>>;
  /** Hears of every call from now on. */
  subscribe(listener: (part: Dependency, seen: HealthSnapshot, changed: boolean) => void): void;
}

export function createHealth(now: () => number): Health {
  const snapshots = new Map<Dependency, HealthSnapshot>();
  const listeners: Parameters<Health['subscribe']>[0][] = [];

  function stateOf(part: Dependency): PartState {
    const last = snapshots.get(part);
    if (last === undefined) return 'unknown';
    return last.answered ? 'up' : 'down';
  }

  return {
    record(part, answered) {
      const changed = snapshots.get(part)?.answered !== answered;
      const latest = { answered, atMs: now() };
      snapshots.set(part, latest);
      for (const listener of listeners) listener(part, latest, changed);
    },
    states: () => ({ docs: stateOf('docs'), slack: stateOf('slack') }),
    snapshots: () => Object.fromEntries(snapshots),
    subscribe: (listener) => void listeners.push(listener),
  };
}

/** What did not change is written again this often at most. */
const SHARE_INTERVAL_MS = 3000;

/**
 * Tells the other processes what this one sees. One write at a time: while Redis is away, what would be written
 * late is old by then; the next call tells it.
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
        if (health.snapshots()[part]?.answered === latest.answered) return;
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
