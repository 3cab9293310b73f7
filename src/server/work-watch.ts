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

type Cause = keyof typeof TEXTS;

interface WorkWatchParts {
  queues: Pick<Queues, 'isPaused'>;
  stores: Pick<Stores, 'due' | 'runs'>;
  timing: Pick<Timing, 'notDrainingMs'>;
  monotonicMs: () => number;
}

/** Looks for work in Redis that nobody does. Every process does: one that works cannot see that it has died. */
export function createWorkWatch({ queues, stores, timing, monotonicMs }: WorkWatchParts) {
  /** Since when each cause was seen at every check. */
  let since = new Map<Cause, number>();
  /** How long a cause must last. Overdue work has waited already, and begins soon after a pause or a jump of the clock. */
  const patienceMs = {
    no_worker: timing.notDrainingMs / 3,
    queue_paused: timing.notDrainingMs,
    record_damaged: 0,
  };

  return {
    /** Checks once. While Redis does not answer, nothing is known. */
    async check(): Promise<void> {
      const [overdue, isPaused, damaged] = await Promise.all([
        stores.due.countOverdue(timing.notDrainingMs),
        queues.isPaused(),
        stores.runs.damaged(),
      ]).catch(() => [0, false, []] as const);
      const found: Cause[] = isPaused ? ['queue_paused'] : overdue > 0 ? ['no_worker'] : [];
      if (damaged.length > 0) found.push('record_damaged');
      since = new Map(found.map((name) => [name, since.get(name) ?? monotonicMs()]));
    },
    /** Returns what the last checks found. */
    problems: (): Problem[] =>
      [...since]
        .filter(([name, sinceMs]) => monotonicMs() - sinceMs >= patienceMs[name])
        .map(([name]) => ({ name, level: 'error', text: TEXTS[name] })),
  };
}
