import { backoffMs } from '../../../runtime/timing.ts';
import type { JobContext } from '../../context.ts';
import { type StepResult, UNREADABLE_RETRY_MS } from '../../run-job.ts';
import { auditChanges } from './audit.ts';
import { endUnusedLimit } from './compact.ts';
import { applyInbox } from './inbox-step.ts';
import { checkPermission } from './permission-step.ts';
import { headOf, inFlightOf, type ThreadRun } from './record.ts';
import {
  answerDeadlineMs,
  leaveQueue,
  markLost,
  nextSendAtMs,
  nextSendable,
  registerSend,
  send,
} from './send-step.ts';
import { joinWatch, syncThread } from './sync.ts';
import { ifReadable, type LoadedThread, publishAndWait, publishThread, save } from './thread-step.ts';
import { endIfNotCreated } from './transitions.ts';

/** While instructions go out one after the other, people are shown how things are so often. */
const PUBLISH_INTERVAL_MS = 2000;

/**
 * A look while it lasts: when it last showed anything, and how often the thread had been woken when it last knew all
 * that the watch does.
 */
export interface Execution {
  publishedAtMs: number;
  syncedAtWake?: number;
}

/** One step of a thread that follows a job. What is to be sent comes before what is to be shown. */
export async function follow(
  { run, inbox, wakes }: LoadedThread,
  execution: Execution,
  context: JobContext,
): Promise<StepResult> {
  const { now, watches, timing, random } = context;
  const delaysMs: number[] = [];
  const openSend = inFlightOf(run);
  if (openSend?.state === 'sending') {
    const leftMs = answerDeadlineMs(openSend, context) - now();
    if (leftMs <= 0) {
      await markLost(run, openSend, context);
      return 'next';
    }
    delaysMs.push(leftMs);
  }
  const unregistered = run.instructions.find(
    ({ state, round }) => state === 'working' && round === undefined,
  );
  if (unregistered !== undefined) {
    const registered = await ifReadable(() => registerSend(run, unregistered, undefined, context), context);
    if (registered) return 'next';
    delaysMs.push(UNREADABLE_RETRY_MS);
  }
  // What is over is told before something else takes its place.
  const hasEndedLimit = run.retry?.over || run.limit?.over;
  if (hasEndedLimit || now() - execution.publishedAtMs > PUBLISH_INTERVAL_MS) {
    await publishThread(run, context);
    execution.publishedAtMs = now();
  }

  const result = await applyInbox(run, inbox, context);
  if (result.pollRequested && run.agentJobId !== undefined)
    await ifReadable(() => watches.requestPoll(run), context);
  const ready = nextSendable(result.thread, now());
  const permission = ready && (await checkPermission(result.thread, ready, context));
  const head = permission?.kind === 'allowed' ? ready : undefined;
  if (permission?.kind === 'refused') result.thread = permission.thread;
  if (permission?.kind === 'unknown') delaysMs.push(backoffMs(timing, 3, random()));
  if (result.consumed > 0 || head !== undefined || permission?.kind === 'refused') {
    await auditChanges(run, result.thread, context);
    await leaveQueue(run, result.thread, context);
    if (head === undefined) return save(result.thread, result.consumed, context);
    if (await send(result.thread, head, result.consumed, context)) execution.syncedAtWake = wakes;
    return 'next';
  }
  if (result.blockedBy === 'author') delaysMs.push(backoffMs(timing, 3, random()));
  if (result.blockedBy === 'newerDocket') delaysMs.push(UNREADABLE_RETRY_MS);

  const latest = { thread: run };
  const readable = await ifReadable(async () => {
    // Whatever the watch learns after that wakes this thread.
    if (execution.syncedAtWake !== wakes) latest.thread = await syncWithWatch(run, context);
  }, context);
  if (!readable) delaysMs.push(UNREADABLE_RETRY_MS);
  const next = endIfNotCreated(endUnusedLimit(latest.thread));
  if (next !== run) {
    await auditChanges(run, next, context);
    return save(next, 0, context);
  }
  if (headOf(run) !== undefined && nextSendAtMs(run) > now()) delaysMs.push(nextSendAtMs(run) - now());
  return publishAndWait(run, wakes, delaysMs, context);
}

/** What the watch of the job knows; a thread without one joins it. */
async function syncWithWatch(run: ThreadRun, { watches }: JobContext): Promise<ThreadRun> {
  if (run.agentJobId === undefined) return run;
  if (!run.watched) {
    const watch = await watches.join(run);
    return syncThread(joinWatch(run, watch), watch);
  }
  const watch = await watches.load(run);
  return watch === undefined ? { ...run, watched: false } : syncThread(run, watch);
}
