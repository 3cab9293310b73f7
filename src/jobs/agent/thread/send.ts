import { DocsApiError } from '../../../docs-api/errors.ts';
import type { AgentJob } from '../../../docs-api/operations.ts';
import { Later, orWait } from '../../../runtime/later.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import { notMade } from '../../../store/call-once.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../engine/context.ts';
import { save } from '../../engine/job.ts';
import { awaitTime, permitted } from '../../engine/waits.ts';
import { type BackgroundSource, promptOf } from '../background.ts';
import { readBackground } from '../read-background.ts';
import { endThread, updateInstruction, updateInstructions } from './instructions.ts';
import {
  addEphemeral,
  type Instruction,
  isFinished,
  isJobRefused,
  isPending,
  listThreads,
  openRoundOf,
  type SendProblem,
  sendProblemsOf,
  type ThreadRun,
  threadEvents,
  unresolvedSendOf,
  waitNumberOf,
} from './record.ts';
import { addSend, snapshotOf } from './rounds.ts';
import type { StrandResult } from './strand.ts';
import { beginTurn, isForTurn, needsPoll, nextInstruction, takesTurns } from './turns.ts';
import { pollOnce } from './watch.ts';

/** Returns the limit of a project in any hour, shared by all processes: for follow-ups, or the other one for new jobs. */
export const hourlyLimitOf = (creates: boolean, project: string, perHour: number): RateLimit => ({
  name: `${creates ? 'agent-jobs' : 'follow-ups'}:${project}`,
  count: perHour,
  windowMs: 3_600_000,
  perId: true,
});

/** The thread keeps its place in the line, even if another instruction is next. */
const slotId = ({ id, sends }: ThreadRun) => `${id} ${sends}`;
const callName = ({ sends }: Pick<ThreadRun, 'sends'>) => `send.${sends}`;

/**
 * Begins to send the next instruction, which then has the state `sending`; that is saved before the call. Returns the
 * changed thread, which may also say why it is not sent, or not yet. Without a change, throws `Later`, or returns
 * undefined if there is none to send.
 */
export async function nextSend(
  thread: ThreadRun,
  context: JobContext,
  isPolled = false,
): Promise<ThreadRun | undefined> {
  const { project, agentJobId, notFound, seen, limit: before, retry } = thread;
  const ended = endIfNotCreated(thread);
  if (ended !== thread) return ended;
  const head = nextInstruction(thread);
  if (thread.state !== 'following' || head === undefined || unresolvedSendOf(thread)) return undefined;
  // A person chose to send it again, but the answer to the first call has come.
  const late = await applyLateAnswer(thread, head, context);
  if (late) return late;
  if (isForTurn(thread, head, context)) return beginTurn(thread, context.now());
  const dueAtMs = Math.max(before?.untilMs ?? 0, retry && !retry.expired ? retry.nextMs : 0);
  awaitTime(dueAtMs, context);
  // The job is made first, and an archived job is known before anything is sent to it.
  const isKnown = agentJobId !== undefined && (notFound || seen !== undefined);
  if (!head.creates && !isKnown) return undefined;
  // Checked right before the send, since the instruction may have waited for hours.
  const verdict = await permitted(head.by.id, 'agent', context);
  if (verdict.kind === 'refused') return dropAuthor(thread, head.by.id, verdict.contacts);
  if (seen?.status === 'archived') return addProblem(thread, head, { why: 'archived' });
  if (!hasProject(project, context)) return addProblem(thread, head, { why: 'project' });
  if (head.backgroundSource) return askAboutBackground(thread, head, head.backgroundSource, context);
  const polled = !isPolled && needsPoll(thread, head, context) ? await pollNow(thread, context) : thread;
  if (polled !== thread) return (await nextSend(polled, context, true)) ?? polled;
  // Its last call did not happen. A step that was overtaken may have begun the same one since, so it keeps its number.
  const isRepeat = head.send === thread.sends;
  const sends = isRepeat ? thread.sends : thread.sends + 1;
  const sending = updateInstruction({ ...thread, sends }, head.id, { state: 'sending', send: sends });
  const isTaking = takesTurns(thread, head, context);
  const refused = isTaking ? await claimTurn(thread, slotId(sending), context) : undefined;
  if (refused) return refused;
  const limit = hourlyLimitOf(head.creates, project, context.settings.limits.followUpsPerHour);
  const [slotInMs] = await Promise.all([
    // A repeat of this step gets the same slot.
    context.store.rateLimiter.takeSlot(limit, { id: slotId(sending) }),
    // The results of the sends before are saved, or a person has decided what they were.
    ...(isRepeat ? [] : [thread.sends, head.send ?? 0]).map((done) =>
      context.calls.forgetCall(thread.id, callName({ sends: done })),
    ),
  ]);
  if (slotInMs > 0) {
    // It sends nothing now, so another thread may.
    await context.store.rateLimiter.releaseSlot(turnLimitOf(thread, context), slotId(sending));
    // If our limit still has slots, it is the platform's limit that this send waits for.
    const { used, waiting } = await context.store.rateLimiter.usage(limit);
    const perHour = used + waiting > limit.count ? limit.count : undefined;
    return { ...thread, ...nextLimit(thread, perHour, slotInMs, context) };
  }
  return sending;
}

/**
 * Returns the thread after a poll, at once or when it was requested for; the same thread if polls have to wait for longer
 * than a call takes.
 */
async function pollNow(thread: ThreadRun, context: JobContext): Promise<ThreadRun> {
  const { now, timing } = context;
  const nextPollAtMs = thread.pollRequested ? thread.nextPollAtMs : now();
  const polled = await orWait(pollOnce({ ...thread, pollRequested: true, nextPollAtMs }, context, timing));
  if ('id' in polled) return polled;
  if (polled.inMs > timing.docsCallMs) return thread;
  throw new Later(polled.inMs);
}

/** Of the threads that follow a job, one sends in this time: as long as it takes until the others know of it. */
const turnLimitOf = ({ project, agentJobId }: ThreadRun, { timing }: JobContext): RateLimit => ({
  name: `agent-turns:${project} ${agentJobId}`,
  count: 1,
  windowMs: timing.docsCallMs + timing.callMarginMs,
  perId: true,
});

/**
 * Takes the turn. If another thread has just sent something to the job, it reserves nothing, and returns the thread with
 * a request to poll: if that send has an unknown result, no event says so. Once that is saved, it throws `Later`.
 */
async function claimTurn(thread: ThreadRun, id: string, context: JobContext): Promise<ThreadRun | undefined> {
  const { rateLimiter } = context.store;
  const limit = turnLimitOf(thread, context);
  // Its own last send is over.
  await rateLimiter.releaseSlot(limit, slotId(thread));
  const inMs = await rateLimiter.takeSlot(limit, { id });
  if (inMs === 0) return undefined;
  await rateLimiter.releaseSlot(limit, id);
  if (thread.pollRequested) throw new Later(inMs);
  const nextPollAtMs = context.now() + Math.min(inMs, context.timing.pollMaxMs);
  return { ...thread, pollRequested: true, nextPollAtMs };
}

/** Holds an instruction and asks its author whether its background goes along, unless there is none. */
async function askAboutBackground(
  thread: ThreadRun,
  { id, by, atMs, excerpt }: Instruction,
  backgroundSource: BackgroundSource,
  context: JobContext,
): Promise<ThreadRun> {
  const background = await readBackground(thread, backgroundSource, atMs, context);
  const read = updateInstruction(thread, id, { backgroundSource: undefined });
  if (background === undefined) return read;
  const { channel, rootTs } = backgroundSource;
  // The job's own thread may have no replies, and Slack would not show it there.
  const note = { to: by.id, excerpt, place: { channel, rootTs } };
  if (background.count === 0)
    return addEphemeral(read, { ...note, id: `leftOut ${id}`, kind: 'leftOut', about: background.leftOut });
  const isHere = thread.place?.channel === channel && thread.place.rootTs === rootTs;
  const question = { askedAtMs: context.now(), isHere, isOpenToAll: false };
  const held = updateInstruction(read, id, { state: 'held', background, question, sentNowBy: undefined });
  return addEphemeral(held, { ...note, id: `background ${id}`, kind: 'question', about: id });
}

/** Whether the settings still have the project, with an agent. */
const hasProject = (project: string, { platform: { docs, projectId } }: JobContext) =>
  docs(project) !== undefined && projectId(project) !== undefined;

/** Drops all unsent instructions of one person. An ephemeral says so, and names the contact. */
function dropAuthor(thread: ThreadRun, userId: string, contact: string): ThreadRun {
  const isDropped = (one: Instruction) => isPending(one) && one.by.id === userId;
  const id = `noLongerAllowed ${thread.instructions.find(isDropped)?.id}`;
  const dropped = updateInstructions(thread, isDropped, { state: 'discarded' });
  return addEphemeral(dropped, { id, to: userId, kind: 'noLongerAllowed', about: contact });
}

/** Sends the instruction in the state `sending`, once. It is due again when no other process can get the answer any more. */
export async function finishSend(thread: ThreadRun, context: JobContext): StrandResult {
  const { log, timing, now } = context;
  const one = unresolvedSendOf(thread);
  const late = one?.state === 'unknown' && (await applyLateAnswer(thread, one, context));
  if (late) return save(late);
  if (one?.state !== 'sending') return undefined;
  const outcome = await context.calls.callOnce(thread, callName(thread), timing.docsCallMs, (isTooLate) =>
    call(thread, one, isTooLate, context),
  );
  const saveResult = (next: ThreadRun) => save(endIfNotCreated(next));
  switch (outcome.kind) {
    case 'inFlight':
      throw new Later(outcome.forMs);
    case 'done':
      if (!one.creates) await notifyOtherThreads(thread, context, idleOf(thread));
      return saveResult(applySendResult(thread, one, outcome.value, now()));
    case 'unknown':
      log.warn({ run: thread.id, err: outcome.error }, 'instruction: outcome unknown');
      return saveResult(addProblem(thread, one, { why: 'unknown' }));
    case 'notMade':
    case 'notHappened': {
      const limit = hourlyLimitOf(one.creates, thread.project, context.settings.limits.followUpsPerHour);
      await context.store.rateLimiter.releaseSlot(limit, slotId(thread));
      const next =
        outcome.kind === 'notMade'
          ? addProblem(thread, one, { why: 'project' })
          : await applyError(thread, one, outcome.error, context);
      if (next.limit !== thread.limit)
        await context.store.rateLimiter.hold(limit, (next.limit?.untilMs ?? 0) - now());
      return saveResult(next);
    }
  }
}

/** If the platform has answered a call whose result was unknown, returns the thread with that; else undefined. */
async function applyLateAnswer(thread: ThreadRun, one: Instruction, context: JobContext) {
  const { id, by, problem, send: sends } = one;
  const late =
    sends === undefined ? undefined : await context.calls.callResult(thread.id, callName({ sends }));
  if (late === undefined) return undefined;
  if (!one.creates) await notifyOtherThreads(thread, context);
  const answered = problem && { ...problem, answer: { by, action: 'late' as const } };
  const next = updateInstruction(thread, id, { problem: answered });
  return applySendResult(next, one, late.result as AgentJob, context.now());
}

/** The settings may no longer have the project. */
async function call(thread: ThreadRun, one: Instruction, isTooLate: () => boolean, context: JobContext) {
  const { project, agentJobId: jobId = '' } = thread;
  const prompt = promptOf(one);
  const docs = context.platform.docs(project);
  const projectId = context.platform.projectId(project);
  if (docs === undefined || projectId === undefined) return notMade;
  return one.creates
    ? docs.createAgentJob({ projectId, prompt }, { isTooLate })
    : docs.sendFollowUp({ projectId, jobId, prompt }, { isTooLate });
}

/** Returns how the agent's work ended before a send. Threads that have not polled since learn it. */
const idleOf = (thread: ThreadRun) => {
  const isDone = thread.seen?.status === 'completed' || thread.seen?.status === 'failed';
  return isDone && openRoundOf(thread) === undefined ? thread.seen : undefined;
};

/** Informs the other threads that follow the job about a send, also those in workspaces that share the project. */
async function notifyOtherThreads(
  thread: ThreadRun,
  { store, platform, sendEvent, now }: JobContext,
  idle?: ThreadRun['seen'],
) {
  const { id, project, agentJobId, sends } = thread;
  const followed = platform.teamsOf(thread).map((teamId) => listThreads(store.runs, teamId));
  for (const other of (await Promise.all(followed)).flat()) {
    if (other.agentJobId !== agentJobId || other.project !== project || other.id === id) continue;
    const event = { kind: 'sentElsewhere' as const, atMs: now(), idle };
    await sendEvent(threadEvents, other.id, event, `sent ${id} ${sends}`);
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
async function applyError(thread: ThreadRun, one: Instruction, error: unknown, context: JobContext) {
  if (!(error instanceof DocsApiError)) throw error;
  const { kind, platformMessage: reason } = error;
  const later = (delay: Partial<Pick<ThreadRun, 'limit' | 'turn' | 'retry'>> = {}) =>
    updateInstruction({ ...thread, ...delay }, one.id, { state: 'waiting' });
  if (kind === 'aborted') return later();
  if (kind === 'rate_limited')
    return later(nextLimit(thread, undefined, error.retryAfterMs ?? LIMIT_PAUSE_MS, context));
  if (error.retryable) {
    const retry = nextRetry(thread, error, context);
    return retry ? later({ retry }) : addProblem(thread, one, { why: 'down' });
  }
  const why = hasProject(thread.project, context) ? reasonOf(kind, one.creates) : 'project';
  if (why === 'refused') return addProblem(thread, one, { why, reason });
  if (why !== 'key' && why !== 'forbidden') return addProblem(thread, one, { why });
  if (why === 'key') context.log.error({ run: thread.id, err: error }, 'the docs platform rejects the key');
  const adminsAlerted = await context.platform.alertAdmins(thread.teamId, thread.project, error);
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

/** Returns the new limit of a thread: our own of `perHour`, or the platform's. A continuing wait keeps its message. */
function nextLimit(thread: ThreadRun, perHour: number | undefined, inMs: number, context: JobContext) {
  const nowMs = context.now();
  const n = waitNumberOf(thread) ?? nowMs;
  const untilMs = nowMs + Math.max(inMs, context.timing.retryMinMs);
  return { limit: { n, perHour, untilMs }, turn: undefined };
}

/** Ends a thread whose job can no longer be made, because its first instruction is over or cannot succeed. */
function endIfNotCreated(thread: ThreadRun): ThreadRun {
  if (thread.agentJobId !== undefined || thread.state === 'ended') return thread;
  const first = thread.instructions.find(({ creates }) => creates);
  const isRefused = first?.state === 'failed' && sendProblemsOf(thread).some(isJobRefused);
  if (first !== undefined && !isFinished(first) && !isRefused) return thread;
  return endThread(thread, { why: isRefused ? 'jobRefused' : 'notMade' });
}
