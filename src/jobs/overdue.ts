import type { DueList, DueStore } from '../store/due.ts';
import { LONGEST_PAUSE_MS } from './worker.ts';

export interface OverdueParts {
  due: DueStore;
  /** Has the member of a list worked on at once. */
  wake: Record<DueList, (member: string) => Promise<void>>;
  /** How often each process looks. */
  everyMs: number;
}

/** As parts of `everyMs`: how far apart the looks of all processes are, and how late something is to be overdue. */
const GAP = 0.9;
const LATE = 0.2;

/** Returns what finds the overdue, as functions that have it worked on; it finds nothing right after another process. */
export function createOverdue({ due, wake, everyMs }: OverdueParts): () => Promise<(() => Promise<void>)[]> {
  const overdue = async (list: DueList) => {
    const members = await due.overdue(list, everyMs * LATE, LONGEST_PAUSE_MS);
    return members.map((member) => () => wake[list](member));
  };

  return async () => {
    if (!(await due.claimSweep(everyMs * GAP))) return [];
    const found = await Promise.all([overdue('runs'), overdue('messages'), overdue('reactions')]);
    return found.flat();
  };
}
