import type { z } from 'zod';
import type { RunRef } from '../../store/run-scripts.ts';
import type { RunStore } from '../../store/runs.ts';

/** The events that runs of one job take. */
export interface EventsOf<Event extends object> {
  job: string;
  schema: z.ZodType<Event>;
}

/** The runs of a job that take no events: they can only be asked to look again. */
export interface Wakeable {
  job: string;
  schema?: undefined;
}

/**
 * Sends an event to a run, which takes it in its next step. Without an `event`, the run only looks again. Of several
 * with the same `dedupeKey`, one arrives within seven days. A run that does not exist gets nothing. If `isPatient`, the next
 * sweep steps the run, so that changes which follow one another are one edit.
 */
export type SendEvent = <Event extends object>(
  to: EventsOf<Event> | Wakeable,
  id: string,
  event?: Event,
  dedupeKey?: string,
  isPatient?: boolean,
) => Promise<void>;

/** An event that follows from the record of a run, see `RunJob.sends`. */
export interface Sent {
  job: string;
  id: string;
  event?: object;
  dedupeKey: string;
  isPatient?: true;
}

/** Returns such an event. */
export const sent = <Event extends object>(
  to: EventsOf<Event> | Wakeable,
  id: string,
  dedupeKey: string,
  event?: Event,
): Sent => ({ job: to.job, id, dedupeKey, ...(event && { event }) });

/** The only way from run to run: `wake` queues the run for a step, at once. */
export const createSendEvent =
  (runs: Pick<RunStore, 'appendToInbox'>, wake: (run: RunRef) => unknown): SendEvent =>
  async ({ job }, id, event, dedupeKey, isPatient = false) => {
    const outcome = await runs.appendToInbox(job, id, { event, dedupeKey });
    if (outcome === 'kept' && !isPatient) await wake({ job, id });
  };
