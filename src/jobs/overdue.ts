import type { DueList, DueStore } from '../store/due.ts';
import { LONGEST_PAUSE_MS } from './worker.ts';

export interface OverdueParts {
  due: DueStore;
  /** Has the member of a list worked on at once. */
  wake: Record<DueList, (member: string) => Promise<void>>;
  /** Whether there is a job here for a member of the runs; else it is a newer Docket's. */
  isKnown: (member: string) => boolean;
  /** How often each process looks. */
  everyMs: number;
}

/** As parts of `everyMs`: how far apart the looks of all processes are, and how late something is to be overdue. */
const GAP = 0.9;
const LATE = 0.2;

/** Returns what finds the overdue, as functions that have it worked on; it finds nothing right after another process. */
export function createOverdue({
  due,
  wake,
  isKnown,
  everyMs,
}: OverdueParts): () => Promise<(() => Promise<void>)[]> {
  const overdue = (list: DueList) => due.overdue(list, everyMs * LATE, LONGEST_PAUSE_MS);
  const waking = (list: DueList, members: string[]) => members.map((member) => () => wake[list](member));

  return async () => {
    if (!(await due.claimSweep(everyMs * GAP))) return [];
    const [runs, messages, reactions] = await Promise.all([
      overdue('runs'),
      overdue('messages'),
      overdue('reactions'),
    ]);
    const known = runs.filter(isKnown);
    // Only the newer Docket can have the others worked on: it must not have to wait until this process is gone.
    if (known.length < runs.length) await due.releaseSweep();
    return [...waking('runs', known), ...waking('messages', messages), ...waking('reactions', reactions)];
  };
}
