import type { AgentJob } from '../../../docs-api/operations.ts';
import { updateInstruction } from './instructions.ts';
import type { Instruction, RoundEnding, ThreadRound, ThreadRun } from './record.ts';
import { openRoundOf } from './record.ts';

type JobSnapshot = NonNullable<ThreadRun['seen']>;

/** Ends the polls, and the open round: the platform does not know the job, or the agent has worked for too long. */
export function stopPolls(thread: ThreadRun, kind: 'gone' | 'gaveUp', atMs: number): ThreadRun {
  const next: ThreadRun = { ...thread, pollRequested: false };
  if (kind === 'gone') Object.assign(next, { notFound: true, pollFailure: undefined });
  const round = openRoundOf(thread);
  const afterMs = kind === 'gaveUp' && round ? atMs - round.sentAtMs : undefined;
  return round ? endRound(next, round, { kind, afterMs, atMs }) : next;
}

/** Ends the open round with the state in which another thread saw the job, before that thread sent an instruction. */
export function endSeenElsewhere(
  thread: ThreadRun,
  seen: JobSnapshot | undefined,
  graceMs: number,
): ThreadRun {
  const round = openRoundOf(thread);
  if (round === undefined || seen === undefined || seen.atMs <= round.sentAtMs) return thread;
  if (!isCurrent(thread, round, seen.atMs, graceMs)) return thread;
  return endRound({ ...thread, seen }, round, endingOf(seen, round.prBefore));
}

/** Applies a poll that began at `atMs`: the job's state, the end of the open round, or a round from elsewhere. */
export function applyPoll(thread: ThreadRun, job: AgentJob, atMs: number, graceMs: number): ThreadRun {
  const seen = snapshotOf(job, thread.seen, atMs);
  const known = { notFound: undefined, pollFailure: undefined, pollRequested: false };
  const next: ThreadRun = { ...thread, ...known, seen };
  const round = openRoundOf(thread) ?? foundRound(thread, seen);
  if (round === undefined) return next;
  const isDone = seen.status === 'completed' || seen.status === 'failed';
  const hasEnded = isDone ? isCurrent(thread, round, atMs, graceMs) : seen.status === 'archived';
  return hasEnded ? endRound(next, round, endingOf(seen, round.prBefore)) : putRound(next, round);
}

/** Until the job was seen active after the last send, the platform may still show the previous state. */
function isCurrent({ seen }: ThreadRun, { sentAtMs }: ThreadRound, atMs: number, graceMs: number): boolean {
  const before = seen && seen.atMs >= sentAtMs ? seen.status : undefined;
  return before === 'active' || atMs - sentAtMs >= graceMs;
}

/**
 * Returns a newer snapshot. A field that the platform leaves out keeps its value. But if a completed job names no pull
 * request, the snapshot has none.
 */
export function snapshotOf(job: AgentJob, before: JobSnapshot | undefined, atMs: number): JobSnapshot {
  const { status, rawStatus, repository, ref, model, prLink, createdAt, archivedAt } = job;
  return {
    status,
    rawStatus,
    repository: repository ?? before?.repository,
    ref: ref ?? before?.ref,
    model: model ?? before?.model,
    prLink: status === 'completed' ? prLink : (prLink ?? before?.prLink),
    createdAtMs: createdAt ?? before?.createdAtMs,
    archivedAtMs: archivedAt,
    atMs,
  };
}

/**
 * Returns a round in which this thread sent nothing, if the job is active; or the last one again if it was given up, so
 * that its result is shown.
 */
function foundRound(thread: ThreadRun, { status, atMs }: JobSnapshot): ThreadRound | undefined {
  const last = thread.rounds.at(-1);
  if (last?.ending?.kind === 'gaveUp' && status !== 'unknown') {
    const { sinceMs, prBefore, authors, count, last: request } = last;
    const sentAtMs = status === 'active' ? atMs : last.sentAtMs;
    return newRound(thread, { sinceMs, sentAtMs, prBefore, authors, count, last: request, found: true });
  }
  if (status !== 'active') return undefined;
  return newRound(thread, { sinceMs: atMs, sentAtMs: atMs, authors: [thread.owner], found: true });
}

const newRound = (
  thread: ThreadRun,
  more: Pick<ThreadRound, 'sinceMs' | 'sentAtMs'> & Partial<ThreadRound>,
): ThreadRound => ({
  n: (thread.rounds.at(-1)?.n ?? 0) + 1,
  count: 0,
  authors: [],
  prBefore: pullRequestOf(thread),
  ...more,
});

/** Returns the job's last known pull request. A completed job that changed no file names none. */
function pullRequestOf({ seen, rounds }: ThreadRun): string | undefined {
  const { ending, prBefore } = rounds.at(-1) ?? {};
  return seen?.prLink ?? ending?.prLink ?? prBefore;
}

const putRound = (thread: ThreadRun, round: ThreadRound): ThreadRun => ({
  ...thread,
  rounds: [...thread.rounds.filter(({ n }) => n !== round.n), round],
});

/**
 * Adds a send at `atMs` to the open round, or opens one: of this thread's instruction `one`, or of another thread. The
 * next poll is due at once.
 */
export function addSend(thread: ThreadRun, atMs: number, one?: Instruction): ThreadRun {
  const open = {
    ...(openRoundOf(thread) ?? newRound(thread, { sinceMs: atMs, sentAtMs: atMs })),
    sentAtMs: atMs,
    found: undefined,
  };
  const nextPollAtMs = Math.max(thread.pollFailure?.nextMs ?? 0, atMs);
  const next = { ...thread, nextPollAtMs };
  if (one === undefined) return putRound(next, open);
  const { id, by, excerpt } = one;
  const authors = open.authors.some((author) => author.id === by.id) ? open.authors : [...open.authors, by];
  const sent = { count: open.count + 1, last: { id, by, excerpt }, authors };
  return updateInstruction(putRound(next, { ...open, ...sent }), id, { state: 'working', round: open.n });
}

function endRound(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): ThreadRun {
  const instructions = thread.instructions.map((one): Instruction => {
    // It was to be sent during this round, not during the next one.
    if (one.state === 'waiting') return { ...one, sentNowBy: undefined };
    if (one.state !== 'working' || one.round !== round.n) return one;
    return { ...one, state: 'sent', ...(one.origin && { ending }) };
  });
  // A preview that is being built comes as an event, which says whether it shows this round.
  const preview = thread.preview?.isBuilding ? thread.preview : undefined;
  return putRound({ ...thread, instructions, preview }, { ...round, ending });
}

function endingOf(seen: JobSnapshot, prBefore: string | undefined): RoundEnding {
  const { status, prLink, atMs } = seen;
  if (status === 'archived' || status === 'failed') return { kind: status, atMs };
  if (prLink === undefined) return { kind: 'noPr', atMs };
  return { kind: prLink === prBefore ? 'samePr' : 'newPr', prLink, atMs };
}
