import type { Queues } from '../jobs/engine/queue.ts';
import type { Timing } from '../runtime/timing.ts';
import type { Stores } from '../store/stores.ts';
import type { Problem } from './health.ts';

const TEXTS = {
  no_worker:
    'Work is due, and no process begins it. Check that one with the role worker or all runs; if it is busy, add another.',
  queue_paused:
    'A queue of BullMQ is paused, so its work waits. Docket never pauses one: resume it in the tool that paused it.',
  record_damaged:
    "Docket can't read some of its records, so their work has stopped. The log names them. Start the version of Docket that wrote them; else report those lines.",
} as const;

interface WorkWatchParts {
  queues: Pick<Queues, 'isPaused'>;
  stores: Pick<Stores, 'due' | 'runs'>;
  timing: Pick<Timing, 'notDrainingMs'>;
  monotonicMs: () => number;
}

/** Looks for work in Redis that nobody does. Every process does: one that works cannot see that it has died. */
export function createWorkWatch({ queues, stores, timing, monotonicMs }: WorkWatchParts) {
  /** Since when each cause was seen at every check. */
  const since = new Map<keyof typeof TEXTS, number>();
  /** How long a cause must last. Overdue work has waited already, and begins soon after a pause or a jump of the clock. */
  const patienceMs = {
    no_worker: timing.notDrainingMs / 3,
    queue_paused: timing.notDrainingMs,
    record_damaged: 0,
  };

  return {
    /** Checks once. While Redis does not answer, nothing is known. */
    async check(): Promise<void> {
      const found = await Promise.all([
        stores.due.countOverdue(timing.notDrainingMs),
        queues.isPaused(),
        stores.runs.damaged(),
      ]).catch(() => [0, false, []] as const);
      const [overdue, isPaused, damaged] = found;
      const seen = {
        no_worker: overdue > 0 && !isPaused,
        queue_paused: isPaused,
        record_damaged: damaged.length > 0,
      };
      for (const name of Object.keys(TEXTS) as (keyof typeof TEXTS)[]) {
        if (!seen[name]) since.delete(name);
        else if (!since.has(name)) since.set(name, monotonicMs());
      }
    },
    /** Returns what the last checks found. */
    problems: (): Problem[] =>
      [...since].flatMap(([name, sinceMs]) =>
        monotonicMs() - sinceMs >= patienceMs[name]
          ? [{ name, level: 'error' as const, text: TEXTS[name] }]
          : [],
      ),
  };
}
