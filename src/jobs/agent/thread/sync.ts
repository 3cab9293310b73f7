import { isSameSnapshot, type JobSnapshot, type WatchEnding, type WatchRun } from '../watch/record.ts';
import { findInstruction, type ThreadRound, type ThreadRun } from './record.ts';
import { keepIfSame, updateInstruction, updateInstructions } from './transitions.ts';

// Copies data from the job's watch to a thread.

/** Messages show the time of a poll to the minute. */
const SAME_SNAPSHOT_MS = 60_000;

/** Consecutive errors before messages say that the platform does not answer. */
export const TROUBLE_SHOWN_AFTER = 3;

/** Adds the thread to the watch. It does not show rounds that ended before. */
export function joinWatch(thread: ThreadRun, watch: WatchRun): ThreadRun {
  return { ...thread, watched: true, knownRound: watch.rounds - (watch.round === undefined ? 0 : 1) };
}

/** Copies all changes from the watch; returns the same thread if there are none. */
export function syncThread(thread: ThreadRun, watch: WatchRun): ThreadRun {
  const { seen, notFound: gone, round } = watch;
  const pollFailure = visibleTrouble(watch);
  const current: ThreadRun = {
    ...thread,
    seen: seen && mergeSnapshot(thread.seen, seen),
    notFound: gone,
    pollFailure: pollFailure,
  };
  const next = watch.endings.filter(({ n }) => n > thread.knownRound).reduce(withEnding, current);
  const isNewRound = round !== undefined && next.rounds.every(({ n }) => n !== round.n);
  return keepIfSame(thread, isNewRound ? withRound(next, newRound(next, round)) : next);
}

/** Adds a sent instruction to the round `n`. */
export function withSend(thread: ThreadRun, id: string, n: number, atMs: number): ThreadRun {
  const sent = findInstruction(thread, id);
  if (sent === undefined) return thread;
  const { by, excerpt } = sent;
  const before = thread.rounds.find((round) => round.n === n);
  const { count, authors, ...rest } = before ?? { n, sinceMs: atMs, count: 0, authors: [] };
  const round = {
    ...rest,
    count: count + 1,
    last: { id, by, excerpt },
    authors: authors.some((author) => author.id === by.id) ? authors : [...authors, by],
  };
  return updateInstruction(withRound(thread, round), id, { round: n });
}

function withRound(thread: ThreadRun, round: ThreadRound): ThreadRun {
  const others = thread.rounds.filter(({ n }) => n !== round.n);
  return { ...thread, rounds: [...others, round].toSorted((one, other) => one.n - other.n) };
}

/**
 * Returns a round in which this thread sent nothing. If no other thread did either, its ending mentions the authors of
 * the abandoned round before it, else the owner.
 */
function newRound(
  { owner, rounds }: ThreadRun,
  { n, sinceMs, found }: Pick<ThreadRound, 'n' | 'sinceMs'> & { found: boolean },
): ThreadRound {
  const last = rounds.at(-1);
  const givenUp = last?.ending?.kind === 'gaveUp' ? last.authors : [];
  const authors = givenUp.length > 0 ? givenUp : [owner];
  return { n, sinceMs, count: 0, authors: found ? authors : [], found };
}

function withEnding(
  thread: ThreadRun,
  { n, prBefore: _before, found = false, ...ending }: WatchEnding,
): ThreadRun {
  const round =
    thread.rounds.find((one) => one.n === n) ?? newRound(thread, { n, sinceMs: ending.atMs, found });
  const next = withRound({ ...thread, knownRound: n }, { ...round, ending });
  return updateInstructions(next, (one) => one.state === 'working' && one.round === n, {
    state: 'over',
    outcome: 'sent',
  });
}

function mergeSnapshot(before: JobSnapshot | undefined, snapshot: JobSnapshot): JobSnapshot {
  const isRecent = before !== undefined && snapshot.atMs - before.atMs < SAME_SNAPSHOT_MS;
  return isRecent && isSameSnapshot(before, snapshot) ? before : snapshot;
}

function visibleTrouble({ pollFailure: trouble }: WatchRun): ThreadRun['pollFailure'] {
  if (trouble === undefined || trouble.kind === 'lost') return undefined;
  return trouble.kind === 'down' && trouble.inARow < TROUBLE_SHOWN_AFTER ? undefined : trouble.kind;
}
