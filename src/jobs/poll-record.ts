import { z } from 'zod';

/** The result of one poll. `fraction` is 0 to 1. */
export const snapshot = z.object({ atMs: z.number(), fraction: z.number().optional() });
export type Snapshot = z.infer<typeof snapshot>;

/** Number of snapshots for a plan; more would only enlarge the record. */
export const MAX_SNAPSHOTS = 8;

/**
 * Returns the snapshots with one more, at most `MAX_SNAPSHOTS`. While progress stands still, only the first and the
 * last snapshot are kept: they give the rate, however many polls came between.
 */
export function addSnapshot(snapshots: readonly Snapshot[], added: Snapshot): Snapshot[] {
  const [before, last] = snapshots.slice(-2);
  const isSameLevel =
    added.fraction !== undefined && last?.fraction === added.fraction && before?.fraction === added.fraction;
  return [...(isSameLevel ? snapshots.slice(0, -1) : snapshots), added].slice(-MAX_SNAPSHOTS);
}

/** Why calls to the platform fail, while that lasts. */
export const pollFailure = z.object({
  kind: z.enum(['down', 'limit', 'key', 'forbidden', 'project', 'lost']),
  /** Consecutive failures of this kind. */
  inARow: z.number().int(),
  /** The time of the next try; epoch milliseconds. */
  nextMs: z.number(),
});
export type PollFailure = z.infer<typeof pollFailure>;
