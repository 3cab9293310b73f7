import { z } from 'zod';

/** What one poll found. `fraction` is 0 to 1. */
export const snapshot = z.object({ atMs: z.number(), fraction: z.number().optional() });
export type Snapshot = z.infer<typeof snapshot>;

/** How many snapshots a plan is made from; more only make the record larger. */
export const MAX_SNAPSHOTS = 8;

/**
 * Returns the snapshots with one more, at most `MAX_SNAPSHOTS`. While a job stays at one level, only the first and the last
 * of its snapshots are kept: they say how fast it went, however often it was polled meanwhile.
 */
export function addSnapshot(snapshots: readonly Snapshot[], added: Snapshot): Snapshot[] {
  const [before, last] = snapshots.slice(-2);
  const isSameLevel =
    added.fraction !== undefined && last?.fraction === added.fraction && before?.fraction === added.fraction;
  return [...(isSameLevel ? snapshots.slice(0, -1) : snapshots), added].slice(-MAX_SNAPSHOTS);
}

/** Why calls of the platform give nothing, while it lasts. */
export const pollFailure = z.object({
  kind: z.enum(['down', 'limit', 'key', 'forbidden', 'project', 'lost']),
  /** Failures of this kind in a row. */
  inARow: z.number().int(),
  /** When it is tried again; epoch milliseconds. */
  nextMs: z.number(),
});
export type PollFailure = z.infer<typeof pollFailure>;
