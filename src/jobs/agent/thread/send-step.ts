import { DocsApiError } from '../../../docs-api/errors.ts';
import type { AgentJob } from '../../../docs-api/schemas.ts';
import { Stopping } from '../../../runtime/stopping.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import { UnreadableRun } from '../../../store/runs.ts';
import type { JobContext } from '../../context.ts';
import { roundOf } from '../watch/rules.ts';
import { auditOutcomes } from './audit.ts';
import type { Instruction } from './instruction.ts';
import { nextLimit, resolveNotSent, type SendFailure } from './not-sent.ts';
import { headOf, inFlightOf, type ThreadRun, threadRun } from './record.ts';
import { joinWatch, syncThread, withSend } from './sync.ts';
import { applySendResult, type SendResult } from './transitions.ts';

const HOUR_MS = 3_600_000;

/** The follow-ups of a project that all processes share, in any hour. */
export const followUpLimit = (project: string, perHour: number): RateLimit => ({
  name: `follow-ups:${project}`,
  count: perHour,
  windowMs: HOUR_MS,
});

/** The instruction that can go out now. */
export function nextSendable(thread: ThreadRun, nowMs: number): Instruction | undefined {
  const head = headOf(thread);
  if (thread.state !== 'following' || head === undefined || inFlightOf(thread) !== undefined)
    return undefined;
  const known =
    head.creates || (thread.agentJobId !== undefined && (thread.gone || thread.seen !== undefined));
  return known && nextSendAtMs(thread) <= nowMs ? head : undefined;
}

/** When whatever keeps the head from going out is over; epoch milliseconds, 0 when nothing does. */
export function nextSendAtMs({ limit, retry }: Pick<ThreadRun, 'limit' | 'retry'>): number {
  const limitMs = limit && !limit.over ? (limit.askAtMs ?? limit.untilMs) : 0;
  return Math.max(limitMs, retry && !retry.over ? retry.nextMs : 0);
}

/**
 * Saves the thread with the intent to send `head`, its slot of the hour and what was heard, all in one write; then
 * makes the call and saves what came of it. A process that dies in between leaves the intent, which becomes a
 * question. Nothing is sent where the write was refused. Answers whether the thread knows all that the watch does then.
 */
export async function send(
  thread: ThreadRun,
  head: Instruction,
  consumed: number,
  context: JobContext,
): Promise<boolean> {
  const { threads, now, timing, limits, rateLimiter, stopping } = context;
  stopping.throwIfAborted();
  const failure = findSendFailure(thread, head, context);
  if (failure !== undefined) {
    const failed = applySendResult(
      markSending(thread, head, now(), ''),
      head,
      { kind: 'notSent', trouble: failure },
      now(),
    );
    await auditOutcomes(thread, failed, context);
    await leaveQueue(thread, failed, context);
    await threads.save(failed, consumed);
    return false;
  }
  const sentAtMs = now();
  const sendKey = sendKeyOf(thread, head);
  const limit = followUpLimit(thread.project, limits.followUpsPerHour);
  // What makes a job is no follow-up.
  const slot = head.creates ? undefined : { limit, id: sendKey, sinceMs: queuedSinceMs(thread, head) };
  const sendToken = context.newToken();
  const saved = await threads.save(markSending(thread, head, sentAtMs, sendToken), consumed, slot);
  const intended = saved.kind === 'saved' ? saved.run : undefined;
  if (saved.kind === 'limited') {
    const held = nextLimit(thread, saved.held ? 'platform' : 'ours', saved.inMs, context);
    await threads.save({ ...thread, limit: held }, consumed);
    return false;
  }
  // A write whose answer was lost is sent again by the connection, and then finds itself there.
  const own = intended ?? (await loadOwnIntent(thread.id, sendToken, context));
  if (own === undefined) return false;
  // The write took so long that others may already take the send for lost: it must not be made any more.
  const isLate = now() - sentAtMs > timing.unclearMs;
  const result: SendResult = isLate ? { kind: 'later' } : await callPlatform(own, head, context);
  if (slot && (result.kind === 'later' || result.kind === 'notSent'))
    await rateLimiter.releaseSlot(limit, sendKey);
  if (slot && result.kind === 'later' && result.limit)
    await rateLimiter.hold(limit, result.limit.untilMs - now());
  const current = await saveSendResult(own, head, result, context);
  if (current?.state !== 'following' || result.kind !== 'taken') return false;
  try {
    return await registerSend(current, { ...head, sentAtMs }, result.job, context);
  } catch (error) {
    // The look does it when the watch can be read again.
    if (!(error instanceof UnreadableRun)) throw error;
    return false;
  }
}

/**
 * Since when an instruction stands in the line for a slot, also over a restart: since the one before it in its
 * thread went out. So other threads go in between, however many wait in this one.
 */
const queuedSinceMs = ({ instructions }: ThreadRun, head: Instruction) =>
  Math.max(head.atMs, ...instructions.map(({ sentAtMs = 0 }) => sentAtMs));

async function loadOwnIntent(
  runId: string,
  sendToken: string,
  { threads }: JobContext,
): Promise<ThreadRun | undefined> {
  const run = (await threads.loadWithInbox(runId, threadRun))?.run;
  return run?.instructions.some((one) => one.state === 'sending' && one.sendToken === sendToken)
    ? run
    : undefined;
}

/** What people took back waits no more: its place in the line for a slot is somebody else's. */
export async function leaveQueue(
  before: ThreadRun,
  after: ThreadRun,
  { rateLimiter, limits }: Pick<JobContext, 'rateLimiter' | 'limits'>,
): Promise<void> {
  const limit = followUpLimit(before.project, limits.followUpsPerHour);
  const waited = before.instructions.filter(({ state }) => state === 'waiting');
  const isStillWaiting = ({ id, attempt }: Instruction) =>
    after.instructions.some((one) => one.id === id && one.attempt === attempt && one.state === 'waiting');
  const left = waited.filter((one) => !isStillWaiting(one));
  await Promise.all(left.map((one) => rateLimiter.releaseSlot(limit, sendKeyOf(before, one))));
}

/** The intent of a process that is gone: nobody waits for its answer any more. */
export async function markLost(thread: ThreadRun, lost: Instruction, context: JobContext): Promise<void> {
  await saveSendResult(thread, lost, { kind: 'unknown' }, context);
}

/** Until when a send that is under way may still be answered; epoch milliseconds. */
export const answerDeadlineMs = ({ sentAtMs = 0 }: Instruction, { timing }: Pick<JobContext, 'timing'>) =>
  sentAtMs + timing.docsCallMs + timing.unclearMs;

/**
 * Tells the watch of a send that the platform took, and the thread of the round that it belongs to. `job` is the
 * answer to it, while that is known. Answers whether that was saved.
 */
export async function registerSend(
  thread: ThreadRun,
  { id, attempt, sentAtMs = 0 }: Instruction,
  job: AgentJob | undefined,
  { watches, threads }: Pick<JobContext, 'watches' | 'threads'>,
): Promise<boolean> {
  const sendKey = sendKeyOf(thread, { id, attempt });
  const unknown: AgentJob = { id: thread.agentJobId ?? '', status: 'unknown', rawStatus: '' };
  const watch = await watches.recordSend(thread, sendKey, job ?? unknown, sentAtMs);
  const round = roundOf(watch, sendKey) ?? watch.rounds;
  const known = thread.watched ? thread : joinWatch(thread, watch);
  // The round of this send may be over by now, and its end is news.
  const next = { ...known, knownRound: Math.min(known.knownRound, round - 1) };
  const saved = await threads.save(syncThread(withSend(next, id, round, sentAtMs), watch), 0);
  return saved.kind === 'saved';
}

const sendKeyOf = ({ id: run }: ThreadRun, { id, attempt }: Pick<Instruction, 'id' | 'attempt'>) =>
  `${run} ${id} ${attempt}`;

/** Saves what became of a send, whoever has changed the thread meanwhile; nothing where that is known already. */
async function saveSendResult(
  thread: ThreadRun,
  sent: Instruction,
  result: SendResult,
  context: JobContext,
): Promise<ThreadRun | undefined> {
  let before: ThreadRun | undefined = thread;
  while (before !== undefined) {
    const after = applySendResult(before, sent, result, context.now());
    if (after === before) return undefined;
    await auditOutcomes(before, after, context);
    const saved = await context.threads.save(after, 0);
    if (saved.kind === 'saved') return saved.run;
    before = (await context.threads.loadWithInbox(thread.id, threadRun))?.run;
  }
  return undefined;
}

function markSending(thread: ThreadRun, head: Instruction, sentAtMs: number, sendToken: string): ThreadRun {
  const instructions = thread.instructions.map((one) =>
    one.id === head.id ? { ...one, state: 'sending' as const, sentAtMs, sendToken } : one,
  );
  return { ...thread, instructions };
}

/** Why it is of no use to ask the platform. */
function findSendFailure(
  thread: ThreadRun,
  head: Instruction,
  { docs, projectId }: JobContext,
): SendFailure | undefined {
  if (docs(thread.project) === undefined || projectId(thread.project) === undefined)
    return { why: 'project' };
  if (head.creates) return undefined;
  if (thread.seen?.status !== 'archived') return undefined;
  const { archivedAtMs } = thread.seen;
  return { why: 'archived', ...(archivedAtMs !== undefined && { archivedAtMs }) };
}

async function callPlatform(thread: ThreadRun, head: Instruction, context: JobContext): Promise<SendResult> {
  const docs = context.docs(thread.project);
  const projectId = context.projectId(thread.project);
  if (docs === undefined || projectId === undefined) return { kind: 'notSent', trouble: { why: 'project' } };
  try {
    const prompt = head.text;
    const job = head.creates
      ? await docs.createAgentJob({ projectId, prompt })
      : await docs.sendFollowUp({ projectId, jobId: thread.agentJobId ?? '', prompt });
    return { kind: 'taken', job };
  } catch (error) {
    if (error instanceof Stopping) return { kind: 'later' };
    if (!(error instanceof DocsApiError)) throw error;
    if (error.happened === 'no') return resolveNotSent(thread, head, error, context);
    context.log.warn({ run: thread.id, err: error }, 'an instruction without an answer');
    return { kind: 'unknown' };
  }
}
