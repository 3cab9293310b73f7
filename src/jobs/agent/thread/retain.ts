import { trackRow } from '../../digest/row/track.ts';
import type { JobContext } from '../../engine/context.ts';
import { save } from '../../engine/job.ts';
import { mayChange } from '../../pull-request/state-view.ts';
import { isAskFinal } from './instructions.ts';
import type { Instruction, ThreadRun } from './record.ts';
import { isFinished, unsentOf } from './record.ts';
import type { StrandResult } from './strand.ts';
// Limits the size of a thread's record: a thread may live for years, and there may be thousands.

/** Finished instructions that are kept: their messages may still be edited or deleted. */
export const MAX_FINISHED = 30;

/** Final rounds, and failed instructions, that are kept for clicks on their buttons. */
const MAX_FINAL_ROUNDS = 3;
const MAX_FAILED = 20;

/**
 * Keeps the latest finished instructions, without text. The last one of the newest round keeps its text, so that it can be
 * resent. The one that created the job is kept, and those from digests until their lines are final.
 */
export function compact(thread: ThreadRun): ThreadRun {
  const last = thread.rounds.findLast((round) => round.last !== undefined)?.last?.id;
  const isSpent = (one: Instruction) =>
    (isFinished(one) || (one.state === 'working' && one.round !== undefined)) && one.id !== last;
  const droppable = thread.instructions.filter(
    (one) => isSpent(one) && !one.creates && (one.origin === undefined || one.origin.final),
  );
  const dropped = new Set(droppable.slice(0, -MAX_FINISHED));
  const instructions = thread.instructions
    .filter((one) => !dropped.has(one))
    .map((one) => (isSpent(one) ? { ...one, text: '', background: undefined } : one));
  const { limit, turn } = thread;
  const isOver = unsentOf(thread).length === 0;
  // The next wait must not post the message of this one again.
  const over = { limit: limit && { ...limit, isOver }, turn: turn && { ...turn, isOver } };
  return { ...thread, instructions, ...(isOver && over) };
}

/**
 * Marks final parts once all messages are published, and drops the oldest ones. A final message must not be published
 * again: its record expires before the thread's, so it would be posted a second time.
 */
export function markFinal(thread: ThreadRun): ThreadRun {
  const failed = thread.instructions.filter(({ state }) => state === 'failed');
  const forgotten = failed.slice(0, -MAX_FAILED);
  const instructions = thread.instructions.map((one): Instruction => {
    if (forgotten.includes(one)) return { ...one, state: 'notSent', problem: undefined };
    const { problem, origin } = one;
    const isFinal = problem !== undefined && problem.why !== 'unknown';
    return {
      ...one,
      problem: problem?.answer ? undefined : isFinal ? { ...problem, final: true } : problem,
      origin: origin && isAskFinal(thread, one) ? { ...origin, final: true } : origin,
    };
  });
  const rounds = thread.rounds.map((round) =>
    round.ending && !mayChange(round.pullRequest) ? { ...round, final: true } : round,
  );
  const isUnsent = unsentOf(thread).length > 0;
  const final = {
    ...thread,
    instructions,
    rounds: rounds.filter((round, at) => !round.final || at >= rounds.length - MAX_FINAL_ROUNDS),
    limit: isUnsent ? thread.limit : undefined,
    turn: isUnsent ? thread.turn : undefined,
    retry: isUnsent && !thread.retry?.expired ? thread.retry : undefined,
  };
  return JSON.stringify(final) === JSON.stringify(thread) ? thread : final;
}

/** Once all is published, keeps only what is still needed. The next digest finds a request by the list of its runs. */
export async function retain(thread: ThreadRun, context: JobContext): StrandResult {
  for (const one of thread.instructions) {
    const { origin } = one;
    if (origin === undefined || origin.final) continue;
    const isNew = await context.store.figures.addAsk(origin.digest, thread.id);
    await trackRow(thread, one, context, isNew);
  }
  const next = markFinal(thread);
  return next === thread ? undefined : save(next);
}
