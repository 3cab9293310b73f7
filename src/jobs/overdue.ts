import type { DueList, DueStore } from '../store/due.ts';
import { LONGEST_PAUSE_MS } from './workers.ts';

export interface OverdueFinderParts {
  due: DueStore;
  /** Wakes an entry of a list. */
  wake: Record<DueList, (member: string) => Promise<void>>;
  /** How often each process sweeps. */
  everyMs: number;
}

/** Parts of `everyMs`: the gap between sweeps of all processes, and the delay of an overdue entry. */
const SWEEP_GAP = 0.9;
const SWEEP_LATENESS = 0.2;

/** Returns a function that finds overdue entries, unless another process just did: a wake function for each. */
export function createOverdueFinder({
  due,
  wake,
  everyMs,
}: OverdueFinderParts): () => Promise<(() => Promise<void>)[]> {
  const findOverdue = (list: DueList) => due.overdue(list, everyMs * SWEEP_LATENESS, LONGEST_PAUSE_MS);
  const wakesOf = (list: DueList, members: string[]) => members.map((member) => () => wake[list](member));

  return async () => {
    if (!(await due.claimSweep(everyMs * SWEEP_GAP))) return [];
    const [runs, messages] = await Promise.all([findOverdue('runs'), findOverdue('messages')]);
    return [...wakesOf('runs', runs), ...wakesOf('messages', messages)];
  };
}
