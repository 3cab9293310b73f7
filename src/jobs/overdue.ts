import type { DueList, DueStore } from '../store/due.ts';
import { LONGEST_PAUSE_MS } from './workers.ts';

export interface OverdueFinderParts {
  due: DueStore;
  /** Wakes an entry of a list. */
  wake: Record<DueList, (member: string) => Promise<void>>;
  /** How often each process sweeps. */
  everyMs: number;
}

/** As parts of `everyMs`: how far apart the sweeps of all processes are, and how late something is to be overdue. */
const SWEEP_GAP = 0.9;
const SWEEP_LATENESS = 0.2;

/** Returns a function that finds what is overdue, unless a process just did: functions, each of which wakes one entry. */
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
