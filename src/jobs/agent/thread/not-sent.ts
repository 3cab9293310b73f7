import type { DocsApiError } from '../../../docs-api/errors.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { JobContext } from '../../context.ts';
import type { Instruction } from './instruction.ts';
import type { ThreadRun } from './record.ts';
import type { SendResult } from './transitions.ts';

/** How long the platform is left alone when it says "too many" without saying until when; longer each time. */
const RATE_LIMIT_BACKOFF_MS = 60_000;
const RATE_LIMIT_BACKOFF_MAX_MS = 10 * 60_000;

/** How often our own count is asked again: people discard what stands before one in the line. */
const LIMIT_RECHECK_MS = 30_000;

/** People are told of another time only when it differs by more than this. */
const SAME_TIME_TOLERANCE_MS = 30_000;

/** Why an instruction certainly did not arrive, for people. */
export type SendFailure = Extract<SendResult, { kind: 'notSent' }>['trouble'];

/** What becomes of an instruction that certainly did not arrive: it goes out later, or people are told. */
export async function resolveNotSent(
  thread: ThreadRun,
  head: Instruction,
  error: DocsApiError,
  context: JobContext,
): Promise<SendResult> {
  const { now, random, timing, alertAdmins, log } = context;
  const reason = error.platformMessage;
  const detail = reason === undefined ? {} : { reason };
  const failed = (trouble: SendFailure): SendResult => ({ kind: 'notSent', trouble });
  switch (error.kind) {
    case 'rate_limited': {
      const refusals = (thread.limit?.refusals ?? 0) + 1;
      const pauseMs = Math.min(RATE_LIMIT_BACKOFF_MS * 2 ** (refusals - 1), RATE_LIMIT_BACKOFF_MAX_MS);
      const waitMs = error.retryAfterMs ?? pauseMs;
      const base = nextLimit(thread, 'platform', Math.max(waitMs, timing.retryMinMs), context);
      const limit = { ...base, askAtMs: undefined, refusals };
      return { kind: 'later', limit };
    }
    case 'key_rejected':
      log.error({ run: thread.id, err: error }, 'the docs platform rejects the key');
      return failed({ why: 'key', adminsTold: await alertAdmins(thread.teamId, thread.project) });
    case 'not_found':
      return failed({ why: head.creates ? 'unsupported' : 'gone' });
    case 'unsupported':
      return failed(head.creates ? { why: 'unsupported' } : { why: 'refused', ...detail });
    case 'forbidden':
      return failed({ why: 'forbidden', ...detail });
    case 'aborted':
      return { kind: 'later' };
    default:
      break;
  }
  if (!error.retryable) return failed({ why: 'refused', ...detail });
  const before = thread.retry?.over ? undefined : thread.retry;
  const sinceMs = before?.sinceMs ?? now();
  const inARow = (before?.inARow ?? 0) + 1;
  const pauseMs = Math.max(error.retryAfterMs ?? 0, backoffMs(timing, inARow, random()));
  if (now() + pauseMs > sinceMs + timing.giveUpMs) return failed({ why: 'down' });
  return { kind: 'later', retry: { sinceMs, inARow, nextMs: now() + pauseMs } };
}

/** What keeps the instructions of a thread; a message of its own only when there is none yet. */
export function nextLimit(
  { limit }: ThreadRun,
  kind: 'ours' | 'platform',
  inMs: number,
  { now, limits }: JobContext,
): NonNullable<ThreadRun['limit']> {
  const nowMs = now();
  const isOngoing = limit !== undefined && !limit.over;
  const untilMs = nowMs + inMs;
  const isSameTime =
    isOngoing && limit.kind === kind && Math.abs(limit.untilMs - untilMs) < SAME_TIME_TOLERANCE_MS;
  return {
    n: isOngoing ? limit.n : nowMs,
    kind,
    perHour: limits.followUpsPerHour,
    sinceMs: isOngoing ? limit.sinceMs : nowMs,
    untilMs: isSameTime ? limit.untilMs : untilMs,
    askAtMs: Math.min(untilMs, nowMs + LIMIT_RECHECK_MS),
    refusals: isOngoing ? limit.refusals : 0,
  };
}
