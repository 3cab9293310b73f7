import type { WatchEnding, WatchRun } from '../watch/record.ts';
import { type JobSnapshot, type ThreadRound, type ThreadRun, TROUBLE_SHOWN_AFTER } from './record.ts';

/** When the job was seen is told to the minute. */
const SAME_SNAPSHOT_MS = 60_000;

/** The thread as it joins a watch: what ended before is no news to it. */
export function joinWatch(thread: ThreadRun, watch: WatchRun): ThreadRun {
  return { ...thread, watched: true, knownRound: watch.rounds - (watch.round === undefined ? 0 : 1) };
}

/** The thread with everything that the watch of its job knows and it does not. The very same when that is nothing. */
export function syncThread(thread: ThreadRun, watch: WatchRun): ThreadRun {
  const { seen, gone } = watch;
  const lookTrouble = visibleTrouble(watch);
  let next: ThreadRun = { ...thread, seen: seen && mergeSnapshot(thread.seen, seen), gone, lookTrouble };
  const newEndings = watch.endings.filter(({ n }) => n > thread.knownRound);
  for (const ending of newEndings) next = withEnding(next, ending);
  const { round } = watch;
  if (round !== undefined && !next.rounds.some(({ n }) => n === round.n))
    next = { ...next, rounds: [...next.rounds, newRound(next, round)] };
  return JSON.stringify(next) === JSON.stringify(thread) ? thread : next;
}

/** The round `n` with one more instruction of this thread in it. */
export function withSend(thread: ThreadRun, id: string, n: number, atMs: number): ThreadRun {
  const sent = thread.instructions.find((one) => one.id === id);
  if (sent === undefined) return thread;
  const { by, excerpt } = sent;
  const found = thread.rounds.find((round) => round.n === n);
  const before: ThreadRound = found ?? { n, sinceMs: atMs, count: 0, authors: [] };
  const authors = before.authors.some((author) => author.id === by.id)
    ? before.authors
    : [...before.authors, by];
  const round = { ...before, count: before.count + 1, last: { id, by, excerpt }, authors };
  return {
    ...thread,
    rounds: [...thread.rounds.filter((other) => other.n !== n), round].sort((a, b) => a.n - b.n),
    instructions: thread.instructions.map((one) => (one.id === id ? { ...one, round: n } : one)),
  };
}

/**
 * A round that this thread sent nothing in. One that nobody here began is told to whoever followed the job, and one
 * that was given up and is watched again to those whose instructions it was.
 */
function newRound(
  { owner, rounds }: ThreadRun,
  { n, sinceMs, found }: { n: number; sinceMs: number; found: boolean },
): ThreadRound {
  const last = rounds.at(-1);
  const givenUp = last?.ending?.kind === 'gaveUp' ? last.authors : [];
  return { n, sinceMs, count: 0, authors: found ? (givenUp.length > 0 ? givenUp : [owner]) : [], found };
}

function withEnding(
  thread: ThreadRun,
  { n, prBefore: _before, found: isFound = false, ...ending }: WatchEnding,
): ThreadRun {
  const found = thread.rounds.find((round) => round.n === n);
  const round = found ?? newRound(thread, { n, sinceMs: ending.atMs, found: isFound });
  return {
    ...thread,
    knownRound: n,
    rounds: [...thread.rounds.filter((other) => other.n !== n), { ...round, ending }].sort(
      (a, b) => a.n - b.n,
    ),
    instructions: thread.instructions.map((one) =>
      one.state === 'working' && one.round === n
        ? { ...one, state: 'over' as const, outcome: 'sent' as const }
        : one,
    ),
  };
}

/** A look that found the same a moment later is no news. */
function mergeSnapshot(before: JobSnapshot | undefined, snapshot: JobSnapshot): JobSnapshot {
  const same = before !== undefined && snapshot.atMs - before.atMs < SAME_SNAPSHOT_MS;
  return same && JSON.stringify({ ...before, atMs: 0 }) === JSON.stringify({ ...snapshot, atMs: 0 })
    ? before
    : snapshot;
}

function visibleTrouble({ trouble }: WatchRun): ThreadRun['lookTrouble'] {
  if (trouble === undefined) return undefined;
  if (trouble.kind === 'down' || trouble.kind === 'lost')
    return trouble.inARow >= TROUBLE_SHOWN_AFTER && trouble.kind === 'down' ? 'down' : undefined;
  return trouble.kind;
}
