import type { RateLimit, SlotRequest } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import type { Instruction } from './instruction.ts';
import { findInstruction, type ThreadRun, waitingOf } from './record.ts';

const HOUR_MS = 3_600_000;

/** Interval for checking our own limit: people may discard instructions earlier in the line. */
const LIMIT_RECHECK_MS = 30_000;

/** A new time is shown only if it differs by more than this. */
const SAME_TIME_TOLERANCE_MS = 30_000;

/** Returns the limit for follow-ups of a project in any hour, shared by all processes. */
export const followUpLimit = (project: string, perHour: number): RateLimit => ({
  name: `follow-ups:${project}`,
  count: perHour,
  windowMs: HOUR_MS,
});

/** Returns the name of one send, used in the line and in the watch. */
export const sendKeyOf = ({ id: run }: ThreadRun, { id, attempt }: Pick<Instruction, 'id' | 'attempt'>) =>
  `${run} ${id} ${attempt}`;

/** Returns the slot request for a thread's next instruction. Slots alternate between threads. */
export const slotRequest = (thread: ThreadRun, head: Instruction): SlotRequest => ({
  id: sendKeyOf(thread, head),
});

/** Removes instructions from the line that wait in `before` but no longer in `after`. */
export async function leaveLine(
  before: ThreadRun,
  after: ThreadRun,
  { rateLimiter, limits }: Pick<JobContext, 'rateLimiter' | 'limits'>,
): Promise<void> {
  const limit = followUpLimit(before.project, limits.followUpsPerHour);
  const left = waitingOf(before).filter(({ id, attempt }) => {
    const one = findInstruction(after, id);
    return one?.state !== 'waiting' || one.attempt !== attempt;
  });
  await Promise.all(left.map((one) => rateLimiter.releaseSlot(limit, sendKeyOf(before, one))));
}

/** Returns the new limit of a thread. A continuing limit keeps its message, and its time if that is nearly the same. */
export function nextLimit(
  { limit }: ThreadRun,
  kind: 'ours' | 'platform',
  inMs: number,
  { now, limits }: JobContext,
): NonNullable<ThreadRun['limit']> {
  const nowMs = now();
  const ongoing = limit?.expired ? undefined : limit;
  const untilMs = nowMs + inMs;
  const isSameTime = ongoing?.kind === kind && Math.abs(ongoing.untilMs - untilMs) < SAME_TIME_TOLERANCE_MS;
  return {
    n: ongoing?.n ?? nowMs,
    kind,
    perHour: limits.followUpsPerHour,
    sinceMs: ongoing?.sinceMs ?? nowMs,
    untilMs: isSameTime ? ongoing.untilMs : untilMs,
    askAtMs: Math.min(untilMs, nowMs + LIMIT_RECHECK_MS),
    refusals: ongoing?.refusals ?? 0,
  };
}
