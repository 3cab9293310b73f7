import { DocsApiError } from '../../../docs-api/errors.ts';
import { Stopping } from '../../../runtime/stopping.ts';
import type { JobContext } from '../../context.ts';
import { type StepResult, save } from '../../job.ts';
import { failurePauseMs } from '../../polling.ts';
import { auditChanges, saveChanges } from './publish.ts';
import {
  type Instruction,
  listedThread,
  nextWaitingOf,
  type ThreadEvent,
  type ThreadRun,
  threadRun,
  unresolvedSendOf,
} from './record.ts';
import {
  applySendResult,
  endIfNotCreated,
  followUpLimit,
  type SendResult,
  updateInstruction,
} from './transitions.ts';

/** Returns the instruction that can be sent now. */
export function nextSendable(thread: ThreadRun, nowMs: number): Instruction | undefined {
  const head = nextWaitingOf(thread);
  if (thread.state !== 'following' || head === undefined || unresolvedSendOf(thread) !== undefined)
    return undefined;
  const { agentJobId, notFound: gone, seen } = thread;
  const isJobKnown = head.creates || (agentJobId !== undefined && (gone || seen !== undefined));
  return isJobKnown && nextSendAtMs(thread) <= nowMs ? head : undefined;
}

/** Returns when a limit or a retry lets the next instruction go; epoch milliseconds, 0 if there is no delay. */
export function nextSendAtMs({ limit, retry }: Pick<ThreadRun, 'limit' | 'retry'>): number {
  return Math.max(limit?.untilMs ?? 0, retry && !retry.expired ? retry.nextMs : 0);
}

/**
 * Sends `head`. It first takes a slot of the hourly limit; a repeat of this step gets the same slot. One write then saves
 * the intent, and drops the `consumed` events. If that write is refused, nothing is sent. The call follows, then its result
 * is saved. If a process dies in between, the remaining intent becomes a question.
 */
export async function send(
  thread: ThreadRun,
  head: Instruction,
  consumed: number,
  context: JobContext,
): Promise<StepResult<ThreadRun>> {
  const { runs, now, timing, limits, rateLimiter, stopping } = context;
  stopping.throwIfAborted();
  const limit = followUpLimit(thread.project, limits.followUpsPerHour);
  const sentAtMs = now();
  const sendToken = context.newToken();
  const sends = thread.sends + 1;
  const intent = updateInstruction({ ...thread, sends }, head.id, { state: 'sending', sentAtMs, sendToken });
  if (thread.seen?.status === 'archived') {
    const archived = notSent({ why: 'archived', archivedAtMs: thread.seen.archivedAtMs });
    return saveChanges(thread, applySendResult(intent, head, archived, sentAtMs), consumed, context);
  }
  // A new job is not a follow-up, so it takes no slot. Whichever instruction is next keeps the thread's place in the line.
  const slotId = head.creates ? undefined : `${thread.id} ${sends}`;
  const slotInMs = slotId === undefined ? 0 : await rateLimiter.takeSlot(limit, { id: slotId });
  if (slotInMs > 0) {
    // If our limit still has slots, it is the platform's limit that this send waits for.
    const { used, waiting } = await rateLimiter.usage(limit);
    const perHour = used + waiting > limit.count ? limit.count : undefined;
    return save({ ...thread, limit: nextLimit(thread, perHour, slotInMs, context) }, { consumed });
  }
  // If a write's answer is lost, the connection repeats the write, which then finds its own revision.
  const saved = await runs.saveStep(intent, { consumed });
  const own = saved?.run ?? (await loadIntent(thread.id, sendToken, context));
  if (own === undefined) return 'next';
  // After this time, others may have recorded the send as lost: the call must not be made.
  const isTooLate = () => now() - sentAtMs > timing.callMarginMs;
  const result: SendResult = isTooLate() ? { kind: 'later' } : await makeCall(own, head, isTooLate, context);
  if (slotId !== undefined && result.kind !== 'taken' && result !== unknown)
    await rateLimiter.releaseSlot(limit, slotId);
  if (slotId !== undefined && result.kind === 'later' && result.limit)
    await rateLimiter.hold(limit, result.limit.untilMs - now());
  await saveSendResult(own, head, result, context);
  if (result.kind === 'taken' && !head.creates) await tellOthers(own, head, result.job.status, context);
  return 'next';
}

/** Tells other threads that follow the job of a send. If the process dies before, they see the work at their next poll. */
async function tellOthers(
  { id, teamId, project, agentJobId }: ThreadRun,
  { id: sent, attempt }: Instruction,
  status: string,
  { runs, threads, wake, now }: JobContext,
): Promise<void> {
  const event: ThreadEvent = { kind: 'sentElsewhere', atMs: now(), isActive: status === 'active' };
  const entry = { event, dedupeKey: `sent ${id} ${sent} ${attempt}` };
  for (const listed of await threads.followedIndex(teamId)) {
    const other = listedThread.safeParse(listed).data;
    const isOther = other?.agentJobId === agentJobId && other?.project === project && other.id !== id;
    if (!isOther) continue;
    await runs.appendToInbox('agent-thread', other.id, entry);
    await wake({ job: 'agent-thread', id: other.id });
  }
}

async function loadIntent(
  runId: string,
  sendToken: string,
  { runs }: JobContext,
): Promise<ThreadRun | undefined> {
  const run = await runs.load(runId, threadRun);
  const isOwn = run?.instructions.some((one) => one.state === 'sending' && one.sendToken === sendToken);
  return isOwn ? run : undefined;
}

/**
 * Returns for how many milliseconds an open send may still get its answer; 0 without an open send. After that time its
 * process has died: saves the result as unknown, and returns `next`.
 */
export async function checkOpenSend(thread: ThreadRun, context: JobContext): Promise<number | 'next'> {
  const { timing, now } = context;
  const sent = unresolvedSendOf(thread);
  if (sent?.state !== 'sending') return 0;
  const leftMs = (sent.sentAtMs ?? 0) + timing.docsCallMs + timing.callMarginMs - now();
  if (leftMs > 0) return leftMs;
  await saveSendResult(thread, sent, unknown, context);
  return 'next';
}

/** Saves the result of a send despite concurrent changes of the thread, unless a result was saved already. */
async function saveSendResult(
  thread: ThreadRun,
  sent: Instruction,
  result: SendResult,
  context: JobContext,
): Promise<void> {
  let before: ThreadRun | undefined = thread;
  while (before !== undefined) {
    const after = endIfNotCreated(applySendResult(before, sent, result, context.now()));
    if (after === before) return;
    await auditChanges(before, after, context);
    if ((await context.runs.save(after)) !== undefined) return;
    before = await context.runs.load(thread.id, threadRun);
  }
}

/** The pause after the platform answers "too many" without a time. */
const LIMIT_PAUSE_MS = 60_000;

const notSent = (problem: Extract<SendResult, { kind: 'problem' }>['problem']) =>
  ({ kind: 'problem', problem }) as const;

const unknown = notSent({ why: 'unknown' });

/** Makes the call and returns its result. Throws errors that come neither from the platform nor from the network. */
async function makeCall(
  thread: ThreadRun,
  { creates, text: prompt }: Instruction,
  isTooLate: () => boolean,
  context: JobContext,
): Promise<SendResult> {
  const docs = context.docs(thread.project);
  const projectId = context.projectId(thread.project);
  if (docs === undefined || projectId === undefined) return notSent({ why: 'project' });
  const jobId = thread.agentJobId ?? '';
  try {
    const job = creates
      ? await docs.createAgentJob({ projectId, prompt }, { isTooLate })
      : await docs.sendFollowUp({ projectId, jobId, prompt }, { isTooLate });
    return { kind: 'taken', job };
  } catch (error) {
    if (error instanceof Stopping) return { kind: 'later' };
    if (!(error instanceof DocsApiError)) throw error;
    if (error.happened === 'no') return resultOfError(thread, creates, error, context);
    context.log.warn({ run: thread.id, err: error }, 'instruction: outcome unknown');
    return unknown;
  }
}

/** For an instruction that certainly did not arrive: returns whether to send it later or to report the reason. */
async function resultOfError(
  thread: ThreadRun,
  creates: boolean,
  error: DocsApiError,
  context: JobContext,
): Promise<SendResult> {
  const reason = error.platformMessage;
  switch (error.kind) {
    case 'rate_limited':
      return {
        kind: 'later',
        limit: nextLimit(thread, undefined, error.retryAfterMs ?? LIMIT_PAUSE_MS, context),
      };
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

function retryOrGiveUp({ retry }: ThreadRun, error: DocsApiError, context: JobContext): SendResult {
  const { now, timing } = context;
  const before = retry?.expired ? undefined : retry;
  const sinceMs = before?.sinceMs ?? now();
  const inARow = (before?.inARow ?? 0) + 1;
  const nextMs = now() + failurePauseMs(inARow, error, context);
  if (nextMs > sinceMs + timing.giveUpMs) return notSent({ why: 'down' });
  return { kind: 'later', retry: { sinceMs, inARow, nextMs } };
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
