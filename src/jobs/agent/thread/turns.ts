import type { JobContext } from '../../engine/context.ts';
import {
  acceptsInstructions,
  type Instruction,
  openRoundOf,
  type ThreadRound,
  type ThreadRun,
  waitingOf,
  waitNumberOf,
} from './record.ts';
// An instruction that comes while the agent works waits until it is done, because it may stop what the agent does.

/** Whether it is not sent while the agent works. */
export const takesTurns = (thread: ThreadRun, one: Instruction, { settings }: JobContext) =>
  settings.whileWorking === 'wait' && !one.sentNowBy && !one.creates && acceptsInstructions(thread);

/**
 * Returns the instruction to send next. One that makes the job comes first, then one that a person had sent now. While
 * others wait for the agent, the author of one is asked about its background: the answer may take as long.
 */
export function nextInstruction(thread: ThreadRun): Instruction | undefined {
  const waiting = waitingOf(thread);
  const isWaiting = openRoundOf(thread) !== undefined;
  return (
    waiting.find(({ creates }) => creates) ??
    waiting.find(({ sentNowBy, backgroundSource }) => sentNowBy || (isWaiting && backgroundSource)) ??
    waiting[0]
  );
}

/**
 * Whether the instruction waits until the agent is done with what it works on. While no poll can succeed, it does not:
 * nobody would see that the agent is done, and the send says at once what is wrong.
 */
export const isForTurn = (thread: ThreadRun, one: Instruction, context: JobContext) =>
  takesTurns(thread, one, context) &&
  one.backgroundSource === undefined &&
  openRoundOf(thread) !== undefined &&
  !['key', 'forbidden', 'project'].includes(thread.pollFailure?.kind ?? '');

/** Returns the thread with the message about the wait, in the place of that about a limit; undefined if it has it. */
export function beginTurn(thread: ThreadRun, nowMs: number): ThreadRun | undefined {
  const { limit, retry, turn: before } = thread;
  const turn = nextTurn(thread, openRoundOf(thread)?.sentAtMs ?? 0, nowMs);
  if (turn === before && !limit && (!retry || retry.expired)) return undefined;
  return { ...thread, turn, limit: undefined, retry: retry && { ...retry, expired: true } };
}

function nextTurn(thread: ThreadRun, sentAtMs: number, nowMs: number): NonNullable<ThreadRun['turn']> {
  const { turn } = thread;
  if (turn === undefined || turn.isOver) return { n: waitNumberOf(thread) ?? nowMs };
  // The agent has got something else since the question.
  if (turn.workedMs !== undefined && sentAtMs > turn.n) return { n: nowMs, before: turn.n };
  return turn.discardedBy ? { ...turn, discardedBy: undefined } : turn;
}

/** Asks people whether to go on waiting for an agent that has worked for long, in a new message. */
export const askAboutTurn = (thread: ThreadRun, { sinceMs }: ThreadRound, nowMs: number): ThreadRun => ({
  ...thread,
  turn: { n: nowMs, before: thread.turn?.n, workedMs: nowMs - sinceMs },
});

/**
 * Returns whether the job is polled before the send, because the agent may have got work in the dashboard since the job
 * was last seen. It is not if that was just now, or if the platform does not answer.
 */
export function needsPoll(thread: ThreadRun, one: Instruction, context: JobContext): boolean {
  const { notFound, pollFailure, pollRequested, seen } = thread;
  const isFailing = pollFailure !== undefined && pollFailure.nextMs > context.now();
  if (!takesTurns(thread, one, context) || notFound || isFailing) return false;
  // Without an open round, nobody has looked at an active job for a while.
  if (pollRequested || seen?.status === 'active') return true;
  return context.now() - (seen?.atMs ?? 0) > context.timing.pollMaxMs;
}
