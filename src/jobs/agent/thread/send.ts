import { DocsApiError } from '../../../docs-api/errors.ts';
import type { AgentJob } from '../../../docs-api/operations.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import type { StepResult } from '../../job.ts';
import { lookupRetryMs } from '../../polling.ts';
import { type Conversation, promptOf } from '../background.ts';
import { readBackground } from '../conversation.ts';
import { addSend, snapshotOf } from './poll.ts';
import { saveChanges } from './publish.ts';
import {
  type Instruction,
  isFinished,
  isJobRefused,
  isPending,
  listedThread,
  type SendProblem,
  sendProblemsOf,
  type ThreadEvent,
  type ThreadRun,
  unresolvedSendOf,
  waitingOf,
} from './record.ts';
import { addEphemeral, endThread, updateInstruction, updateInstructions } from './transitions.ts';

/** Returns the limit for follow-ups of a project in any hour, shared by all processes. */
export const followUpLimit = (project: string, perHour: number): RateLimit => ({
  name: `follow-ups:${project}`,
  count: perHour,
  windowMs: 3_600_000,
  perId: true,
});

/** The thread keeps its place in the line, even if another instruction is next. */
const slotId = ({ id, sends }: ThreadRun) => `${id} ${sends}`;
const callName = ({ sends }: ThreadRun) => `send.${sends}`;

/**
 * Begins to send the next instruction, which then has the state `sending`; that is saved before the call. Returns the
 * changed thread, which may also say why it is not sent, or not yet. Without a change, returns the milliseconds to
 * wait.
 */
export async function beginSend(thread: ThreadRun, context: JobContext): Promise<ThreadRun | number> {
  const { limits, rateLimiter, now } = context;
  const { project, agentJobId, notFound, seen, limit: before, retry } = thread;
  const ended = endIfNotCreated(thread);
  if (ended !== thread) return ended;
  const [head] = waitingOf(thread);
  if (thread.state !== 'following' || head === undefined || unresolvedSendOf(thread)) return Infinity;
  const dueAtMs = Math.max(before?.untilMs ?? 0, retry && !retry.expired ? retry.nextMs : 0);
  if (dueAtMs > now()) return dueAtMs - now();
  // The job is made first, and an archived job is known before anything is sent to it.
  const isKnown = agentJobId !== undefined && (notFound || seen !== undefined);
  if (!head.creates && !isKnown) return Infinity;
  // Checked right before the send, since the instruction may have waited for hours.
  const verdict = await context.policy.check(head.by.id, 'agent');
  if (verdict.kind === 'unknown') return lookupRetryMs(context);
  if (verdict.kind === 'refused') return dropAuthor(thread, head.by.id, verdict.contacts);
  if (seen?.status === 'archived') return addProblem(thread, head, { why: 'archived' });
  if (!hasProject(project, context)) return addProblem(thread, head, { why: 'project' });
  if (head.conversation) return askAboutConversation(thread, head, head.conversation, context);
  const sending = updateInstruction({ ...thread, sends: thread.sends + 1 }, head.id, { state: 'sending' });
  const limit = followUpLimit(project, limits.followUpsPerHour);
  const [slotInMs] = await Promise.all([
    // A repeat of this step gets the same slot.
    head.creates ? 0 : rateLimiter.takeSlot(limit, { id: slotId(sending) }),
    // The result of the send before is saved.
    context.forgetCall(thread.id, callName(thread)),
  ]);
  if (slotInMs > 0) {
    // If our limit still has slots, it is the platform's limit that this send waits for.
    const { used, waiting } = await rateLimiter.usage(limit);
    const perHour = used + waiting > limit.count ? limit.count : undefined;
    return { ...thread, limit: nextLimit(thread, perHour, slotInMs, context) };
  }
  return sending;
}

/** Holds an instruction and asks its author whether the conversation goes along, unless there is none. */
async function askAboutConversation(
  thread: ThreadRun,
  { id, by, atMs, excerpt }: Instruction,
  conversation: Conversation,
  context: JobContext,
): Promise<ThreadRun | number> {
  const background = await readBackground(thread, conversation, atMs, context);
  if (typeof background === 'number') return background;
  const read = updateInstruction(thread, id, { conversation: undefined });
  if (background === undefined) return read;
  const held = updateInstruction(read, id, { state: 'held', background });
  const question = { id: `background ${id}`, kind: 'question' as const, about: id, excerpt };
  const { channel, rootTs } = conversation;
  return addEphemeral(held, { ...question, to: by.id, place: { channel, rootTs } });
}

/** Whether the settings still have the project, with an agent. */
const hasProject = (project: string, { docs, projectId }: JobContext) =>
  docs(project) !== undefined && projectId(project) !== undefined;

/** Drops all unsent instructions of one person. An ephemeral says so, and names the contact. */
function dropAuthor(thread: ThreadRun, userId: string, contact: string): ThreadRun {
  const isDropped = (one: Instruction) => isPending(one) && one.by.id === userId;
  return addEphemeral(updateInstructions(thread, isDropped, { state: 'discarded' }), {
    id: `noLongerAllowed ${thread.instructions.find(isDropped)?.id}`,
    to: userId,
    kind: 'noLongerAllowed',
    about: contact,
  });
}

/**
 * Sends the instruction in the state `sending`, once. Returns the save of the result. Without one, returns for how many
 * milliseconds another process may still get the answer.
 */
export async function finishSend(
  thread: ThreadRun,
  context: JobContext,
): Promise<StepResult<ThreadRun> | number> {
  const { log, limits, rateLimiter, timing, now } = context;
  const one = unresolvedSendOf(thread);
  if (one?.state !== 'sending') return Infinity;
  const outcome = await context.callOnce(thread, callName(thread), timing.docsCallMs, (isTooLate) =>
    call(thread, one, isTooLate, context),
  );
  const saveResult = (next: ThreadRun) => saveChanges(thread, endIfNotCreated(next), 0, context);
  switch (outcome.kind) {
    case 'inFlight':
      return outcome.forMs;
    case 'done':
      if (!one.creates) await notifyOtherThreads(thread, context);
      return saveResult(applySendResult(thread, one, outcome.value, now()));
    case 'unknown':
      log.warn({ run: thread.id, err: outcome.error }, 'instruction: outcome unknown');
      return saveResult(addProblem(thread, one, { why: 'unknown' }));
    case 'notHappened': {
      const limit = followUpLimit(thread.project, limits.followUpsPerHour);
      if (!one.creates) await rateLimiter.releaseSlot(limit, slotId(thread));
      const next = await applyError(thread, one, outcome.error, context);
      if (!one.creates && next.limit !== thread.limit)
        await rateLimiter.hold(limit, (next.limit?.untilMs ?? 0) - now());
      return saveResult(next);
    }
  }
}

/** If the settings no longer have the project, throws an error that says that nothing was sent. */
async function call(
  { project, agentJobId: jobId = '' }: ThreadRun,
  one: Instruction,
  isTooLate: () => boolean,
  context: JobContext,
): Promise<AgentJob> {
  const prompt = promptOf(one);
  const docs = context.docs(project);
  const projectId = context.projectId(project);
  if (docs === undefined || projectId === undefined)
    throw new DocsApiError('sendFollowUp', 'bad_request', { happened: 'no', what: 'no project' });
  return one.creates
    ? docs.createAgentJob({ projectId, prompt }, { isTooLate })
    : docs.sendFollowUp({ projectId, jobId, prompt }, { isTooLate });
}

/** Informs the other threads that follow the job about a send. */
async function notifyOtherThreads(
  { id, teamId, project, agentJobId, sends }: ThreadRun,
  { runs, threads, wake, now }: JobContext,
): Promise<void> {
  const event: ThreadEvent = { kind: 'sentElsewhere', atMs: now() };
  for (const listed of await threads.followedIndex(teamId)) {
    const other = listedThread.safeParse(listed).data;
    const isOther = other?.agentJobId === agentJobId && other?.project === project && other.id !== id;
    if (!isOther) continue;
    await runs.appendToInbox('agent-thread', other.id, { event, dedupeKey: `sent ${id} ${sends}` });
    await wake({ job: 'agent-thread', id: other.id });
  }
}

/** The platform took the instruction. An answer without a status leaves the previous snapshot. */
export function applySendResult(
  thread: ThreadRun,
  one: Instruction,
  job: AgentJob,
  nowMs: number,
): ThreadRun {
  const isShown = thread.state !== 'ended';
  return {
    ...(isShown ? addSend(thread, nowMs, one) : updateInstruction(thread, one.id, { state: 'working' })),
    agentJobId: thread.agentJobId ?? job.id,
    notFound: undefined,
    seen: job.rawStatus === '' ? thread.seen : snapshotOf(job, thread.seen, nowMs),
    retry: expired(thread),
  };
}

const expired = ({ retry }: ThreadRun) => retry && { ...retry, expired: true };

/** Returns the thread with the problem of a send, which failed or has an unknown result. */
export function addProblem(
  thread: ThreadRun,
  { id, attempt }: Instruction,
  problem: Pick<SendProblem, 'why' | 'reason' | 'adminsAlerted'>,
): ThreadRun {
  const state = problem.why === 'unknown' ? 'unknown' : 'failed';
  const changes = { state, problem: { attempt, ...problem } } as const;
  return updateInstruction({ ...thread, retry: expired(thread) }, id, changes);
}

/** The pause after the platform answers "too many" without a time. */
const LIMIT_PAUSE_MS = 60_000;

/** Applies the error of a send that certainly did not arrive: it is sent later, or its problem is shown. */
async function applyError(
  thread: ThreadRun,
  one: Instruction,
  error: unknown,
  context: JobContext,
): Promise<ThreadRun> {
  if (!(error instanceof DocsApiError)) throw error;
  const { kind, platformMessage: reason } = error;
  const later = (delay: Pick<ThreadRun, 'limit'> | Pick<ThreadRun, 'retry'> = {}) =>
    updateInstruction({ ...thread, ...delay }, one.id, { state: 'waiting' });
  if (kind === 'aborted') return later();
  if (kind === 'rate_limited')
    return later({ limit: nextLimit(thread, undefined, error.retryAfterMs ?? LIMIT_PAUSE_MS, context) });
  if (error.retryable) {
    const retry = nextRetry(thread, error, context);
    return retry ? later({ retry }) : addProblem(thread, one, { why: 'down' });
  }
  const why = hasProject(thread.project, context) ? reasonOf(kind, one.creates) : 'project';
  if (why === 'refused') return addProblem(thread, one, { why, reason });
  if (why !== 'key' && why !== 'forbidden') return addProblem(thread, one, { why });
  if (why === 'key') context.log.error({ run: thread.id, err: error }, 'the docs platform rejects the key');
  const adminsAlerted = await context.alertAdmins(thread.teamId, thread.project, error);
  return addProblem(thread, one, { why, adminsAlerted, ...(why === 'forbidden' && { reason }) });
}

function reasonOf(kind: DocsApiError['kind'], creates: boolean): SendProblem['why'] {
  if (kind === 'key_rejected') return 'key';
  if (kind === 'forbidden') return kind;
  if (kind === 'not_found') return creates ? 'unsupported' : 'gone';
  return kind === 'unsupported' && creates ? kind : 'refused';
}

/** Returns the plan after one more failure; undefined if they have lasted too long. */
function nextRetry({ retry }: ThreadRun, error: DocsApiError, context: JobContext): ThreadRun['retry'] {
  const { now, timing } = context;
  const { sinceMs, inARow: failures } = retry && !retry.expired ? retry : { sinceMs: now(), inARow: 0 };
  const inARow = failures + 1;
  const pauseMs = Math.max(error.retryAfterMs ?? 0, backoffMs(timing, inARow, context.random()));
  const nextMs = now() + pauseMs;
  return nextMs > sinceMs + timing.giveUpMs ? undefined : { sinceMs, inARow, nextMs };
}

/** Returns the new limit of a thread: our own of `perHour`, or the platform's. A continuing limit keeps its message. */
const nextLimit = (
  { limit }: ThreadRun,
  perHour: number | undefined,
  inMs: number,
  { now, timing }: JobContext,
): NonNullable<ThreadRun['limit']> => ({
  n: limit?.n ?? now(),
  perHour,
  untilMs: now() + Math.max(inMs, timing.retryMinMs),
});

/** Ends a thread whose job can no longer be made, because its first instruction is over or cannot succeed. */
function endIfNotCreated(thread: ThreadRun): ThreadRun {
  if (thread.agentJobId !== undefined || thread.state === 'ended') return thread;
  const first = thread.instructions.find(({ creates }) => creates);
  const isRefused = first?.state === 'failed' && sendProblemsOf(thread).some(isJobRefused);
  if (first !== undefined && !isFinished(first) && !isRefused) return thread;
  return endThread(thread, { why: isRefused ? 'jobRefused' : 'notMade' });
}
