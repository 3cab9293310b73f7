import { tsToMs } from '../../../slack/timestamp.ts';
import { type Instruction, isPending } from './instruction.ts';
import { nextWaitingOf, type ThreadRun, unresolvedSendOf } from './record.ts';
import { keepIfSame } from './transitions.ts';

// Limits the size of a thread's record: a thread may live for years, and there may be thousands.

/** Finished instructions kept in an active and in an idle thread: their messages may still be edited or deleted. */
export const MAX_FINISHED = 30;
const MAX_FINISHED_IDLE = 5;

/** Final rounds and failures that are kept for clicks on their buttons. */
const MAX_FINAL_ROUNDS = 3;
const MAX_FINAL_FAILURES = 20;

/** An idle thread keeps early edits and the times of questions this long. */
const RECENT_MS = 10 * 60_000;

/**
 * Sorts the instructions: first those sent or finished, then the pending ones by time. Keeps the latest finished ones
 * without text. Only the last one of the newest round keeps its text, so it can be resent if the round fails.
 */
export function compact(thread: ThreadRun): ThreadRun {
  const retryable = thread.rounds.findLast(({ last }) => last !== undefined)?.last?.id;
  const past = thread.instructions.filter((one) => !isPending(one));
  const pending = thread.instructions.filter(isPending).toSorted(byWrittenAt);
  const finished = past.filter(isFinished);
  const spent = finished.filter(({ id }) => id !== retryable);
  const dropped = new Set(spent.slice(0, Math.max(0, finished.length - MAX_FINISHED)));
  const kept = past
    .filter((one) => !dropped.has(one))
    .map((one) => (spent.includes(one) && one.text !== '' ? { ...one, text: '' } : one));
  return { ...thread, instructions: [...kept, ...pending] };
}

/** The end of a round finishes its instructions. */
const isFinished = ({ state, round }: Instruction) =>
  state === 'over' || (state === 'working' && round !== undefined);

const byWrittenAt = (one: Instruction, other: Instruction) =>
  one.atMs - other.atMs || (one.id < other.id ? -1 : Number(one.id > other.id));

/** Drops working data from an idle thread; returns any other thread itself. */
export function compactIdle(thread: ThreadRun, nowMs: number): ThreadRun {
  const { rounds, instructions, editsBeforeMessage, askedAtMs } = thread;
  const isAtWork = instructions.some(({ state }) => state !== 'over' && state !== 'failed');
  if (isAtWork || rounds.some(({ ending }) => ending === undefined)) return thread;
  // A failed round can be sent again.
  const last = rounds.findLast((round) => round.last !== undefined);
  const retryable = last?.ending?.kind === 'failed' ? last : undefined;
  const isNeeded = (one: Instruction) =>
    one.state === 'failed' || one.creates || one.id === retryable?.last?.id;
  const finished = instructions.filter((one) => !isNeeded(one));
  const dropped = new Set(finished.slice(0, -MAX_FINISHED_IDLE));
  return keepIfSame(thread, {
    ...thread,
    rounds: rounds.filter((round, index) => round === retryable || index === rounds.length - 1),
    instructions: instructions
      .filter((one) => !dropped.has(one))
      .map((one) =>
        isNeeded(one) ? one : { ...one, text: '', excerpt: '', sentAtMs: undefined, sendToken: undefined },
      ),
    editsBeforeMessage: editsBeforeMessage.filter(({ ts }) => nowMs - tsToMs(ts) < RECENT_MS),
    askedAtMs: Object.fromEntries(Object.entries(askedAtMs).filter(([, atMs]) => nowMs - atMs < RECENT_MS)),
  });
}

/**
 * Returns the thread without its final messages. A final message must not be published again: its record expires before
 * the thread's, so it would be posted a second time.
 */
export function withoutFinal(thread: ThreadRun): ThreadRun {
  return {
    ...thread,
    rounds: thread.rounds.filter(({ final: isFinal }) => !isFinal),
    sendProblems: thread.sendProblems.filter(
      ({ final: isFinal, answer }) => !isFinal || answer !== undefined,
    ),
  };
}

/** Marks final parts once all messages are published, and drops the oldest ones. */
export function markFinal(thread: ThreadRun): ThreadRun {
  const rounds = thread.rounds
    .map((round) => (round.ending === undefined ? round : { ...round, final: true }))
    .slice(-MAX_FINAL_ROUNDS);
  const open = thread.sendProblems.filter(({ answer }) => answer === undefined);
  const questions = open.filter(({ why }) => why === 'unknown');
  const failures = open.filter(({ why }) => why !== 'unknown').slice(-MAX_FINAL_FAILURES);
  const troubles = [...questions, ...failures.map((failure) => ({ ...failure, final: true }))];
  const isLost = ({ id, attempt, state }: Instruction) =>
    state === 'failed' && !failures.some((failure) => failure.id === id && failure.attempt === attempt);
  const instructions = thread.instructions.map((one) =>
    isLost(one) ? { ...one, state: 'over' as const } : one,
  );
  const limit = thread.limit?.expired ? undefined : thread.limit;
  const retry = thread.retry?.expired ? undefined : thread.retry;
  const titleShown = thread.title === undefined ? undefined : true;
  return keepIfSame(thread, {
    ...thread,
    titleShown,
    rounds,
    sendProblems: troubles,
    instructions,
    limit,
    retry,
  });
}

/** Ends the limit and the retry of a thread without waiting instructions. They are dropped after the next publish. */
export function endUnusedLimit(thread: ThreadRun): ThreadRun {
  const { limit, retry } = thread;
  if (nextWaitingOf(thread) !== undefined || unresolvedSendOf(thread)?.state === 'sending') return thread;
  const isUnchanged = (limit === undefined || limit.expired) && (retry === undefined || retry.expired);
  if (isUnchanged) return thread;
  return {
    ...thread,
    limit: limit && { ...limit, expired: true },
    retry: retry && { ...retry, expired: true },
  };
}
