import type { AgentJob } from '../../../docs-api/schemas.ts';
import { isWorkOver, type Polled, type RoundEnding, snapshotOf } from '../watch/record.ts';
import {
  findInstruction,
  type Instruction,
  openRoundOf,
  type SendProblem,
  type ThreadRound,
  type ThreadRun,
} from './record.ts';
import { updateInstruction, updateInstructions } from './transitions.ts';

/** The result of one send. */
export type SendResult =
  | { kind: 'taken'; job: AgentJob }
  /** Nobody knows whether it arrived. */
  | { kind: 'unknown' }
  /** It certainly did not arrive, and people have to know why. */
  | { kind: 'notSent'; trouble: Pick<SendProblem, 'why' | 'reason' | 'adminsTold' | 'archivedAtMs'> }
  /** It certainly did not arrive, and is sent later. */
  | { kind: 'later'; limit?: NonNullable<ThreadRun['limit']>; retry?: NonNullable<ThreadRun['retry']> };

/** Records the result of a send. If the attempt already has a result or a successor, nothing changes. */
export function applySendResult(
  thread: ThreadRun,
  { id, attempt }: Pick<Instruction, 'id' | 'attempt'>,
  result: SendResult,
  nowMs: number,
): ThreadRun {
  const sent = findInstruction(thread, id);
  // If it counts as unknown already, the answer came too late: its author has been asked.
  if (sent?.attempt !== attempt || sent.state !== 'sending') return thread;
  const next: ThreadRun = { ...thread, retry: thread.retry && { ...thread.retry, expired: true } };
  const { by, excerpt, creates } = sent;
  const about = { id, attempt, by, excerpt, creates };
  switch (result.kind) {
    case 'taken': {
      const { job } = result;
      const taken: ThreadRun = {
        ...next,
        agentJobId: thread.agentJobId ?? job.id,
        notFound: undefined,
        watched: false,
        // A send may be answered without a status; the previous snapshot then stays.
        seen: job.rawStatus === '' ? thread.seen : snapshotOf(job, thread.seen, sent.sentAtMs ?? nowMs),
      };
      const working = updateInstruction(taken, id, { state: 'working' });
      if (thread.state === 'ended') return working;
      // A poll during the call may have shown the work before: only later ones count.
      const isActive = job.status === 'active';
      return addToRound(working, sent, { sentAtMs: nowMs, isActive, prBefore: pullRequestOf(thread) });
    }
    case 'unknown': {
      const sendProblems = [...next.sendProblems, { ...about, why: 'unknown' as const }];
      return updateInstruction({ ...next, sendProblems }, id, { state: 'unknown' });
    }
    case 'notSent': {
      const sendProblems = [...next.sendProblems, { ...about, ...result.trouble }];
      return updateInstruction({ ...next, sendProblems }, id, { state: 'failed', outcome: 'notSent' });
    }
    case 'later': {
      const { limit = thread.limit, retry = thread.retry } = result;
      return updateInstruction({ ...next, limit, retry }, id, { state: 'waiting', sentAtMs: undefined });
    }
  }
}

/** Returns the job's last known pull request. A completed job that changed no file names none. */
function pullRequestOf({ seen, rounds }: ThreadRun): string | undefined {
  const { ending, prBefore } = rounds.at(-1) ?? {};
  return seen?.prLink ?? seen?.prText ?? ending?.prLink ?? ending?.prText ?? prBefore;
}

/** Adds a sent instruction to the open round, or opens one. */
function addToRound(
  thread: ThreadRun,
  { id, by, excerpt }: Instruction,
  { prBefore, ...send }: Pick<ThreadRound, 'sentAtMs' | 'isActive' | 'prBefore'>,
): ThreadRun {
  const open = openRoundOf(thread) ?? newRound(thread, { sinceMs: send.sentAtMs, prBefore });
  const round: ThreadRound = {
    ...open,
    ...send,
    count: open.count + 1,
    last: { id, by, excerpt },
    authors: open.authors.some((author) => author.id === by.id) ? open.authors : [...open.authors, by],
  };
  return updateInstruction(putRound(thread, round), id, { round: round.n });
}

function newRound(
  { rounds }: ThreadRun,
  { sinceMs, ...more }: Pick<ThreadRound, 'sinceMs'> & Partial<ThreadRound>,
): ThreadRound {
  return { n: (rounds.at(-1)?.n ?? 0) + 1, sinceMs, sentAtMs: sinceMs, count: 0, authors: [], ...more };
}

const putRound = (thread: ThreadRun, round: ThreadRound): ThreadRun => ({
  ...thread,
  rounds: [...thread.rounds.filter(({ n }) => n !== round.n), round],
});

/** Applies what a poll showed: the job's state, the end of the open round, or a round that was started elsewhere. */
export function applyPolled(thread: ThreadRun, news: Polled, graceMs: number): ThreadRun {
  const { seen = thread.seen, notFound, failure, gaveUpSinceMs } = news;
  const next: ThreadRun = { ...thread, seen, notFound: notFound || undefined, pollFailure: failure };
  const round = openRoundOf(thread) ?? foundRound(thread, news);
  if (round === undefined) return next;
  const { atMs } = news;
  if (notFound) return endRound(next, round, { kind: 'gone', atMs });
  if (gaveUpSinceMs !== undefined) {
    const wasSentLater = round.count > 0 && round.sentAtMs > gaveUpSinceMs;
    const ending = { kind: 'gaveUp' as const, afterMs: atMs - gaveUpSinceMs, atMs };
    return wasSentLater ? next : endRound(next, round, ending);
  }
  if (failure === undefined && isWorkOver(round.sentAtMs, news, graceMs))
    return endRound(next, round, endingOf(news, round.prBefore));
  return putRound(next, round);
}

/**
 * Returns a round in which this thread sent nothing, if the job is active; or the last one again if it was given up, so
 * that its result is shown. If no thread sent anything, its ending mentions the authors of the round that was given up,
 * else the owner.
 */
function foundRound(
  thread: ThreadRun,
  { seen, atMs, found, failure, notFound, gaveUpSinceMs }: Polled,
): ThreadRound | undefined {
  const isKnown = failure === undefined && !notFound && gaveUpSinceMs === undefined;
  if (!isKnown || seen === undefined || seen.status === 'unknown') return undefined;
  const last = thread.rounds.at(-1);
  if (last?.ending?.kind === 'gaveUp') {
    const { sinceMs, prBefore, authors } = last;
    // The grace period is over, whenever it was sent.
    return newRound(thread, { sinceMs, sentAtMs: 0, prBefore, authors, found: true });
  }
  if (seen.status !== 'active') return undefined;
  const authors = found ? [thread.owner] : [];
  return newRound(thread, { sinceMs: atMs, authors, found, prBefore: pullRequestOf(thread) });
}

function endRound(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): ThreadRun {
  return updateInstructions(
    putRound(thread, { ...round, ending }),
    (one) => one.state === 'working' && one.round === round.n,
    { state: 'over', outcome: 'sent' },
  );
}

function endingOf({ seen, atMs }: Polled, prBefore: string | undefined): RoundEnding {
  const { status, archivedAtMs, prLink, prText } = seen ?? {};
  if (status === 'archived') return { kind: 'archived', archivedAtMs, atMs };
  if (status === 'failed') return { kind: 'failed', atMs };
  const pr = prLink ?? prText;
  if (pr === undefined) return { kind: 'noPr', atMs };
  return { kind: pr === prBefore ? 'samePr' : 'newPr', prLink, prText, atMs };
}
