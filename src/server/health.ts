import { type HealthStore, type Outside, outside, type Seen } from '../store/health.ts';

/** State of something that Docket depends on, as far as it has been seen. */
export type PartState = 'up' | 'down' | 'unknown';

/** What the last call of this process to each of the others came to. */
export interface Health {
  /** `answered`: it answered at all, if only with a refusal. */
  saw(part: Outside, answered: boolean): void;
  states(): Record<Outside, PartState>;
  seen(): Partial<Record<Outside, Seen>>;
  /** Hears of every call from now on. */
  listen(listener: (part: Outside, seen: Seen, changed: boolean) => void): void;
}

export function createHealth(now: () => number): Health {
  const seen = new Map<Outside, Seen>();
  const listeners: Parameters<Health['listen']>[0][] = [];

  function stateOf(part: Outside): PartState {
    const last = seen.get(part);
    if (last === undefined) return 'unknown';
    return last.answered ? 'up' : 'down';
  }

  return {
    saw(part, answered) {
      const changed = seen.get(part)?.answered !== answered;
      const latest = { answered, atMs: now() };
      seen.set(part, latest);
      for (const listener of listeners) listener(part, latest, changed);
    },
    states: () => ({ docs: stateOf('docs'), slack: stateOf('slack') }),
    seen: () => Object.fromEntries(seen),
    listen: (listener) => void listeners.push(listener),
  };
}

/** What did not change is written again this often at most. */
const TELL_MS = 3000;

/**
 * Tells the other processes what this one sees. One write at a time: while Redis is away, what would be written
 * late is old by then; the next call tells it.
 */
export function tellOthers(health: Health, store: HealthStore, onError: (error: Error) => void): void {
  const toldAtMs = new Map<Outside, number>();
  const writing = new Set<Outside>();

  async function tell(part: Outside) {
    writing.add(part);
    try {
      for (;;) {
        const latest = health.seen()[part];
        if (latest === undefined) return;
        toldAtMs.set(part, latest.atMs);
        await store.tell(part, latest);
        if (health.seen()[part]?.answered === latest.answered) return;
      }
    } catch (error) {
      toldAtMs.delete(part);
      onError(error instanceof Error ? error : new Error(String(error)));
    } finally {
      writing.delete(part);
    }
  }

  health.listen((part, { atMs }, changed) => {
    const due = changed || atMs - (toldAtMs.get(part) ?? 0) >= TELL_MS;
    if (due && !writing.has(part)) void tell(part);
  });
  for (const part of outside) if (health.seen()[part] !== undefined) void tell(part);
}
