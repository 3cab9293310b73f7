import type { DueList, DueStore } from '../store/due.ts';
import { LONGEST_PAUSE_MS } from './worker.ts';

export interface OverdueFinderParts {
  due: DueStore;
  /** Has the member of a list worked on at once. */
  wake: Record<DueList, (member: string) => Promise<void>>;
  /** Whether there is a job here for a member of the runs; else it is a newer Docket's. */
  isKnown: (member: string) => boolean;
  /** How often each process looks. */
  everyMs: number;
}

/** As parts of `everyMs`: how far apart the looks of all processes are, and how late something is to be overdue. */
const SWEEP_GAP = 0.9;
const SWEEP_LATENESS = 0.2;

/** Returns what finds the overdue, as functions that have it worked on; it finds nothing right after another process. */
export function createOverdueFinder({
  due,
  wake,
  isKnown,
  everyMs,
}: OverdueFinderParts): () => Promise<(() => Promise<void>)[]> {
  const findOverdue = (list: DueList) => due.overdue(list, everyMs * SWEEP_LATENESS, LONGEST_PAUSE_MS);
  const wakesOf = (list: DueList, members: string[]) => members.map((member) => () => wake[list](member));

  return async () => {
    if (!(await due.claimSweep(everyMs * SWEEP_GAP))) return [];
    const [runs, messages, reactions] = await Promise.all([
      findOverdue('runs'),
      findOverdue('messages'),
      findOverdue('reactions'),
    ]);
    const known = runs.filter(isKnown);
    // Only the newer Docket can have the others worked on: it must not have to wait until this process is gone.
    if (known.length < runs.length) await due.releaseSweep();
    return [...wakesOf('runs', known), ...wakesOf('messages', messages), ...wakesOf('reactions', reactions)];
  };
}
