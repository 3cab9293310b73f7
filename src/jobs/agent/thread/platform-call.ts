import { DocsApiError } from '../../../docs-api/errors.ts';
import type { AgentJob } from '../../../docs-api/schemas.ts';
import { Stopping } from '../../../runtime/stopping.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import { failurePauseMs } from '../../retry.ts';
import { findInstruction, type Instruction, type ThreadRun, waitingOf } from './record.ts';
import type { SendResult } from './rounds.ts';

/** First and longest pause after the platform answers "too many" without a time. */
const RATE_LIMIT_PAUSES = { retryMinMs: 60_000, retryMaxMs: 10 * 60_000 };

type PlatformCall = { kind: 'call'; call: (isTooLate: () => boolean) => Promise<AgentJob> } | NotSent;
type NotSent = Extract<SendResult, { kind: 'notSent' }>;

const notSent = (trouble: NotSent['trouble']): NotSent => ({ kind: 'notSent', trouble });

/** Returns the call that sends an instruction, or why it cannot succeed. */
export function prepareCall(thread: ThreadRun, head: Instruction, context: JobContext): PlatformCall {
  const docs = context.docs(thread.project);
  const projectId = context.projectId(thread.project);
  if (docs === undefined || projectId === undefined) return notSent({ why: 'project' });
  const prompt = head.text;
  if (head.creates)
    return { kind: 'call', call: (isTooLate) => docs.createAgentJob({ projectId, prompt }, { isTooLate }) };
  if (thread.seen?.status === 'archived')
    return notSent({ why: 'archived', archivedAtMs: thread.seen.archivedAtMs });
  const jobId = thread.agentJobId ?? '';
  return {
    kind: 'call',
    call: (isTooLate) => docs.sendFollowUp({ projectId, jobId, prompt }, { isTooLate }),
  };
}

/** Makes the call and returns its result. Throws errors that come neither from the platform nor from the network. */
export async function makeCall(
  thread: ThreadRun,
  head: Instruction,
  call: () => Promise<AgentJob>,
  context: JobContext,
): Promise<SendResult> {
  try {
    return { kind: 'taken', job: await call() };
  } catch (error) {
    if (error instanceof Stopping) return { kind: 'later' };
    if (!(error instanceof DocsApiError)) throw error;
    if (error.happened === 'no') return resultOfError(thread, head, error, context);
    context.log.warn({ run: thread.id, err: error }, 'instruction: outcome unknown');
    return { kind: 'unknown' };
  }
}

/** For an instruction that certainly did not arrive: returns whether to send it later or to report the reason. */
async function resultOfError(
  thread: ThreadRun,
  { creates }: Instruction,
  error: DocsApiError,
  context: JobContext,
): Promise<SendResult> {
  const reason = error.platformMessage;
  switch (error.kind) {
    case 'rate_limited':
      return limitedByPlatform(thread, error, context);
    case 'key_rejected':
      context.log.error({ run: thread.id, err: error }, 'the docs platform rejects the key');
      return notSent({ why: 'key', adminsTold: await context.alertAdmins(thread.teamId, thread.project) });
    case 'not_found':
      return notSent({ why: creates ? 'unsupported' : 'gone' });
    case 'unsupported':
      return notSent(creates ? { why: 'unsupported' } : { why: 'refused', reason });
    case 'forbidden':
      await context.alertAdmins(thread.teamId, thread.project, error);
      return notSent({ why: 'forbidden', reason });
    case 'aborted':
      return { kind: 'later' };
    default:
      return error.retryable ? retryOrGiveUp(thread, error, context) : notSent({ why: 'refused', reason });
  }
}

function limitedByPlatform(thread: ThreadRun, error: DocsApiError, context: JobContext): SendResult {
  const refusals = (thread.limit?.refusals ?? 0) + 1;
  const pauseMs = backoffMs(RATE_LIMIT_PAUSES, refusals, 0.5);
  const waitMs = Math.max(error.retryAfterMs ?? pauseMs, context.timing.retryMinMs);
  const limit = { ...nextLimit(thread, 'platform', waitMs, context), askAtMs: undefined, refusals };
  return { kind: 'later', limit };
}

function retryOrGiveUp({ retry }: ThreadRun, error: DocsApiError, context: JobContext): SendResult {
  const { now, timing } = context;
  const before = retry?.expired ? undefined : retry;
  const sinceMs = before?.sinceMs ?? now();
  const inARow = (before?.inARow ?? 0) + 1;
  const nextMs = now() + failurePauseMs(inARow, error, context);
  if (nextMs > sinceMs + timing.giveUpMs) return notSent({ why: 'down' });
  return { kind: 'later', retry: { sinceMs, inARow, nextMs } };
}

const HOUR_MS = 3_600_000;

/** Interval for checking our own limit: people may discard instructions earlier in the line. */
const LIMIT_RECHECK_MS = 30_000;

/** Returns the limit for follow-ups of a project in any hour, shared by all processes. */
export const followUpLimit = (project: string, perHour: number): RateLimit => ({
  name: `follow-ups:${project}`,
  count: perHour,
  windowMs: HOUR_MS,
});

/** Returns the name of one send, used in the line for the hourly limit. */
export const sendKeyOf = ({ id: run }: ThreadRun, { id, attempt }: Pick<Instruction, 'id' | 'attempt'>) =>
  `${run} ${id} ${attempt}`;

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

/** Returns the new limit of a thread. A continuing limit keeps its message. */
export function nextLimit(
  { limit }: ThreadRun,
  kind: 'ours' | 'platform',
  inMs: number,
  { now, limits }: JobContext,
): NonNullable<ThreadRun['limit']> {
  const nowMs = now();
  const ongoing = limit?.expired ? undefined : limit;
  const untilMs = nowMs + inMs;
  return {
    n: ongoing?.n ?? nowMs,
    kind,
    perHour: limits.followUpsPerHour,
    untilMs,
    askAtMs: Math.min(untilMs, nowMs + LIMIT_RECHECK_MS),
    refusals: ongoing?.refusals ?? 0,
  };
}
