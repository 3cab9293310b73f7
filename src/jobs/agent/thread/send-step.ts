import { DocsApiError } from '../../../docs-api/errors.ts';
import type { AgentJob } from '../../../docs-api/schemas.ts';
import { Stopping } from '../../../runtime/stopping.ts';
import type { Budget } from '../../../store/budget.ts';
import { UnreadableRun } from '../../../store/runs.ts';
import { roundOf } from '../watch/rules.ts';
import { noteOutcomes } from './audit.ts';
import type { AgentContext } from './context.ts';
import { limitOf, type NotSent, notSent } from './not-sent.ts';
import { headOf, type Instruction, inFlight, type ThreadRun, threadRun } from './record.ts';
import { answered, type SendResult } from './send-result.ts';
import { joining, synced, withSend } from './sync.ts';

/** The follow-ups of a project that all processes share. */
export const followUpBudget = (project: string, perHour: number): Budget => ({
  name: `follow-ups:${project}`,
  perHour,
});

/** The instruction that can go out now. */
export function sendable(thread: ThreadRun, nowMs: number): Instruction | undefined {
  const head = headOf(thread);
  if (thread.state !== 'following' || head === undefined || inFlight(thread) !== undefined) return undefined;
  const known =
    head.creates || (thread.agentJobId !== undefined && (thread.gone || thread.seen !== undefined));
  return known && sendsAgainAtMs(thread) <= nowMs ? head : undefined;
}

/** When whatever keeps the head from going out is over; epoch milliseconds, 0 when nothing does. */
export function sendsAgainAtMs({ limit, retry }: Pick<ThreadRun, 'limit' | 'retry'>): number {
  const limitMs = limit && !limit.over ? (limit.askAtMs ?? limit.untilMs) : 0;
  return Math.max(limitMs, retry && !retry.over ? retry.nextMs : 0);
}

/**
 * Saves the thread with the intent to send `head`, its place in the budget and what was heard, all in one write; then
 * makes the call and saves what came of it. A process that dies in between leaves the intent, which becomes a
 * question. Nothing is sent where the write was refused. Answers whether the thread knows all that the watch does then.
 */
export async function send(
  thread: ThreadRun,
  head: Instruction,
  taken: number,
  context: AgentContext,
): Promise<boolean> {
  const { threads, now, timing, limits, budgets, stopping } = context;
  stopping.throwIfAborted();
  const cannot = whyNot(thread, head, context);
  if (cannot !== undefined) {
    const failed = answered(
      sending(thread, head, now(), ''),
      head,
      { kind: 'notSent', trouble: cannot },
      now(),
    );
    await noteOutcomes(thread, failed, context);
    await leaveLine(thread, failed, context);
    await threads.save(failed, taken);
    return false;
  }
  const sentAtMs = now();
  const of = nameOf(thread, head);
  const budget = followUpBudget(thread.project, limits.followUpsPerHour);
  // What makes a job is no follow-up.
  const spend = head.creates ? undefined : { budget, of, sinceMs: inLineSinceMs(thread, head) };
  const sendToken = context.newToken();
  const saved = await threads.save(sending(thread, head, sentAtMs, sendToken), taken, spend);
  const intended = saved.kind === 'saved' ? saved.run : undefined;
  if (saved.kind === 'limited') {
    const limit = limitOf(thread, saved.held ? 'platform' : 'ours', saved.inMs, context);
    await threads.save({ ...thread, limit }, taken);
    return false;
  }
  // A write whose answer was lost is sent again by the connection, and then finds itself there.
  const mine = intended ?? (await ownIntent(thread.id, sendToken, context));
  if (mine === undefined) return false;
  // The write took so long that others may already take the send for lost: it must not be made any more.
  const late = now() - sentAtMs > timing.unclearMs;
  const result: SendResult = late ? { kind: 'later' } : await call(mine, head, context);
  if (spend && (result.kind === 'later' || result.kind === 'notSent')) await budgets.giveBack(budget, of);
  if (spend && result.kind === 'later' && result.limit)
    await budgets.hold(budget, result.limit.untilMs - now());
  const settled = await settleSend(mine, head, result, context);
  if (settled?.state !== 'following' || result.kind !== 'taken') return false;
  try {
    return await register(settled, { ...head, sentAtMs }, result.job, context);
  } catch (error) {
    // The look does it when the watch can be read again.
    if (!(error instanceof UnreadableRun)) throw error;
    return false;
  }
}

/**
 * Since when an instruction stands in the line for the budget, also over a restart: since the one before it in its
 * thread went out. So other threads go in between, however many wait in this one.
 */
const inLineSinceMs = ({ instructions }: ThreadRun, head: Instruction) =>
  Math.max(head.atMs, ...instructions.map(({ sentAtMs = 0 }) => sentAtMs));

async function ownIntent(
  runId: string,
  sendToken: string,
  { threads }: AgentContext,
): Promise<ThreadRun | undefined> {
  const run = (await threads.open(runId, threadRun))?.run;
  return run?.instructions.some((one) => one.state === 'sending' && one.sendToken === sendToken)
    ? run
    : undefined;
}

/** What people took back waits no more: its place in the line for the budget is somebody else's. */
export async function leaveLine(
  before: ThreadRun,
  after: ThreadRun,
  { budgets, limits }: Pick<AgentContext, 'budgets' | 'limits'>,
): Promise<void> {
  const budget = followUpBudget(before.project, limits.followUpsPerHour);
  const waited = before.instructions.filter(({ state }) => state === 'waiting');
  const stays = ({ id, attempt }: Instruction) =>
    after.instructions.some((one) => one.id === id && one.attempt === attempt && one.state === 'waiting');
  const gone = waited.filter((one) => !stays(one));
  await Promise.all(gone.map((one) => budgets.giveBack(budget, nameOf(before, one))));
}

/** The intent of a process that is gone: nobody waits for its answer any more. */
export async function settleLost(thread: ThreadRun, lost: Instruction, context: AgentContext): Promise<void> {
  await settleSend(thread, lost, { kind: 'unknown' }, context);
}

/** Until when a send that is under way may still be answered; epoch milliseconds. */
export const answerableUntilMs = ({ sentAtMs = 0 }: Instruction, { timing }: Pick<AgentContext, 'timing'>) =>
  sentAtMs + timing.docsCallMs + timing.unclearMs;

/**
 * Tells the watch of a send that the platform took, and the thread of the round that it belongs to. `job` is the
 * answer to it, while that is known. Answers whether that was saved.
 */
export async function register(
  thread: ThreadRun,
  { id, attempt, sentAtMs = 0 }: Instruction,
  job: AgentJob | undefined,
  { watches, threads }: Pick<AgentContext, 'watches' | 'threads'>,
): Promise<boolean> {
  const of = nameOf(thread, { id, attempt });
  const unknown: AgentJob = { id: thread.agentJobId ?? '', status: 'unknown', rawStatus: '' };
  const watch = await watches.sent(thread, of, job ?? unknown, sentAtMs);
  const round = roundOf(watch, of) ?? watch.rounds;
  const known = thread.watched ? thread : joining(thread, watch);
  // The round of this send may be over by now, and its end is news.
  const listening = { ...known, knownRound: Math.min(known.knownRound, round - 1) };
  const saved = await threads.save(synced(withSend(listening, id, round, sentAtMs), watch), 0);
  return saved.kind === 'saved';
}

const nameOf = ({ id: run }: ThreadRun, { id, attempt }: Pick<Instruction, 'id' | 'attempt'>) =>
  `${run} ${id} ${attempt}`;

/** Saves what became of a send, whoever has changed the thread meanwhile; nothing where that is known already. */
async function settleSend(
  thread: ThreadRun,
  sent: Instruction,
  result: SendResult,
  context: AgentContext,
): Promise<ThreadRun | undefined> {
  let before: ThreadRun | undefined = thread;
  while (before !== undefined) {
    const after = answered(before, sent, result, context.now());
    if (after === before) return undefined;
    await noteOutcomes(before, after, context);
    const saved = await context.threads.save(after, 0);
    if (saved.kind === 'saved') return saved.run;
    before = (await context.threads.open(thread.id, threadRun))?.run;
  }
  return undefined;
}

function sending(thread: ThreadRun, head: Instruction, sentAtMs: number, sendToken: string): ThreadRun {
  const instructions = thread.instructions.map((one) =>
    one.id === head.id ? { ...one, state: 'sending' as const, sentAtMs, sendToken } : one,
  );
  return { ...thread, instructions };
}

/** Why it is of no use to ask the platform. */
function whyNot(
  thread: ThreadRun,
  head: Instruction,
  { docs, projectId }: AgentContext,
): NotSent | undefined {
  if (docs(thread.project) === undefined || projectId(thread.project) === undefined)
    return { why: 'project' };
  if (head.creates) return undefined;
  if (thread.seen?.status !== 'archived') return undefined;
  const { archivedAtMs } = thread.seen;
  return { why: 'archived', ...(archivedAtMs !== undefined && { archivedAtMs }) };
}

async function call(thread: ThreadRun, head: Instruction, context: AgentContext): Promise<SendResult> {
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
    if (error.happened === 'no') return notSent(thread, head, error, context);
    context.log.warn({ run: thread.id, err: error }, 'an instruction without an answer');
    return { kind: 'unknown' };
  }
}
