import { headOf, inFlightOf, type ThreadRun } from './record.ts';

/** Rounds and failures that are told and still known: a button of theirs may be clicked. */
const MAX_FINAL_ROUNDS = 3;
const MAX_FINAL_FAILURES = 20;

/**
 * What may still have to be shown. The rest stands in Slack as it will stay: it is not shown again, since the record
 * of a message does not live as long as a followed thread.
 */
export function withoutFinal(thread: ThreadRun): ThreadRun {
  return {
    ...thread,
    rounds: thread.rounds.filter(({ told: isFinal }) => !isFinal),
    troubles: thread.troubles.filter(({ told: isFinal, answer }) => !isFinal || answer !== undefined),
  };
}

/** The thread once everything has been shown; the very same when nothing of it is final. */
export function markFinal(thread: ThreadRun): ThreadRun {
  const rounds = thread.rounds
    .map((round) => (round.ending === undefined ? round : { ...round, told: true }))
    .slice(-MAX_FINAL_ROUNDS);
  const open = thread.troubles.filter(({ answer }) => answer === undefined);
  const questions = open.filter(({ why }) => why === 'unknown');
  const failures = open.filter(({ why }) => why !== 'unknown').slice(-MAX_FINAL_FAILURES);
  const troubles = [...questions, ...failures.map((failure) => ({ ...failure, told: true }))];
  const instructions = thread.instructions.map((one) =>
    one.state === 'failed' && !failures.some(({ id, attempt }) => id === one.id && attempt === one.attempt)
      ? { ...one, state: 'over' as const }
      : one,
  );
  const { limit, retry } = thread;
  const next: ThreadRun = {
    ...thread,
    rounds,
    troubles,
    instructions,
    limit: limit?.over ? undefined : limit,
    retry: retry?.over ? undefined : retry,
  };
  return JSON.stringify(next) === JSON.stringify(thread) ? thread : next;
}

/** The thread without a limit or a retry that keeps nothing any more; the very same when there is none. */
export function markLimitOver(thread: ThreadRun): ThreadRun {
  const { limit, retry } = thread;
  if (headOf(thread) !== undefined || inFlightOf(thread)?.state === 'sending') return thread;
  if ((limit === undefined || limit.over) && (retry === undefined || retry.over)) return thread;
  return {
    ...thread,
    limit: limit && { ...limit, over: true },
    retry: retry && { ...retry, over: true },
  };
}
