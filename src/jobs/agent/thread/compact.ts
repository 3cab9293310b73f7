import { tsToMs } from '../../../slack/timestamp.ts';
import { type Instruction, isPending } from './instruction.ts';
import { nextWaitingOf, type ThreadRun, unresolvedSendOf } from './record.ts';
import { keepIfSame } from './transitions.ts';

// What the record of a thread keeps: a thread may live for years, and there may be thousands.

/** Finished instructions that are kept, since their messages may be edited or deleted: at work, and idle. */
export const MAX_FINISHED = 30;
const MAX_FINISHED_IDLE = 5;

/** Final rounds and failures that are kept, since their buttons may be clicked. */
const MAX_FINAL_ROUNDS = 3;
const MAX_FINAL_FAILURES = 20;

/** For so long an idle thread keeps edits that came before their message, and when people were asked. */
const RECENT_MS = 10 * 60_000;

/**
 * Sorts the instructions: first those that were sent or are finished, then the pending ones as they were written. Keeps
 * the latest finished ones without their text; only the last one of the newest round keeps it, to be sent again if the
 * round fails.
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

/** In a round, the end of the round is what matters. */
const isFinished = ({ state, round }: Instruction) =>
  state === 'over' || (state === 'working' && round !== undefined);

const byWrittenAt = (one: Instruction, other: Instruction) =>
  one.atMs - other.atMs || (one.id < other.id ? -1 : Number(one.id > other.id));

/** Drops what is only needed at work from a thread that is idle; returns any other thread itself. */
export function compactIdle(thread: ThreadRun, nowMs: number): ThreadRun {
  const { rounds, instructions, editsBeforeMessage, askedAtMs } = thread;
  const isAtWork = instructions.some(({ state }) => state !== 'over' && state !== 'failed');
  if (isAtWork || rounds.some(({ ending }) => ending === undefined)) return thread;
  // A round that failed can be sent again.
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
 * Returns the thread without what is final. That is not published again: the record of a message does not live as long
 * as a thread, so that the message would be posted a second time.
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

/** Marks what is final once all is published, and drops the oldest of it. */
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

/** Ends the limit and the retry of a thread in which no instruction waits. They are dropped once that is published. */
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
