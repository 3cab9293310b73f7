import { hasUnsent, type Instruction, isOver, type ThreadRun } from './record.ts';
import { isAskSettled } from './transitions.ts';

// Limits the size of a thread's record: a thread may live for years, and there may be thousands.

/** Finished instructions that are kept: their messages may still be edited or deleted. */
export const MAX_FINISHED = 30;

/** Final rounds and failures that are kept for clicks on their buttons. */
const MAX_FINAL_ROUNDS = 3;
const MAX_FINAL_FAILURES = 20;

/**
 * Keeps the latest finished instructions without text. The last one of the newest round keeps its text while that round
 * is open or has failed, so that it can be resent. The one that created the job keeps it until its message is published.
 * Those from digests are counted apart, and kept until their lines are final: the next digest shows their results.
 */
export function compact(thread: ThreadRun): ThreadRun {
  const { last, ending } = thread.rounds.findLast((round) => round.last !== undefined) ?? {};
  const retryable = ending === undefined || ending.kind === 'failed' ? last?.id : undefined;
  const finished = thread.instructions.filter(isFinished);
  const isUnpublished = ({ creates }: Instruction) =>
    creates && thread.title !== undefined && !thread.titleShown;
  const spent = finished.filter((one) => one.id !== retryable && !isUnpublished(one));
  // The end of a thread without a job depends on the instruction that was to create it.
  const droppable = spent.filter(({ creates, origin }) => !creates && (origin === undefined || origin.final));
  const dropped = new Set(
    [true, false].flatMap((isAsk) => {
      const isSame = ({ origin }: Instruction) => (origin !== undefined) === isAsk;
      return droppable.filter(isSame).slice(0, Math.max(0, finished.filter(isSame).length - MAX_FINISHED));
    }),
  );
  const instructions = thread.instructions
    .filter((one) => !dropped.has(one))
    .map((one) => (spent.includes(one) && one.text !== '' ? { ...one, text: '' } : one));
  return { ...thread, instructions };
}

/** The end of a round finishes its instructions. */
const isFinished = (one: Instruction) => isOver(one) || (one.state === 'working' && one.round !== undefined);

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
  const isLost = ({ id, attempt, state }: Instruction) =>
    state === 'failed' && !failures.some((failure) => failure.id === id && failure.attempt === attempt);
  const final = {
    ...thread,
    instructions: thread.instructions.map((one): Instruction => {
      if (isLost(one)) return { ...one, state: 'notSent' };
      const { origin } = one;
      return origin && isAskSettled(thread, one) ? { ...one, origin: { ...origin, final: true } } : one;
    }),
    titleShown: thread.title === undefined ? undefined : true,
    rounds,
    sendProblems: [...questions, ...failures.map((failure) => ({ ...failure, final: true }))],
    limit: hasUnsent(thread) ? thread.limit : undefined,
    retry: hasUnsent(thread) && !thread.retry?.expired ? thread.retry : undefined,
  };
  return JSON.stringify(final) === JSON.stringify(thread) ? thread : final;
}
