import type { JobContext } from '../../context.ts';
import { lookupRetryMs } from '../../retry.ts';
import { contactsText } from '../../wording-view.ts';
import { addThread, requestPoll } from '../watch/transitions.ts';
import { loadWatch, updateWatch } from '../watch/watches.ts';
import { endUnusedLimit } from './compact.ts';
import { applyInbox } from './inbox.ts';
import { nextWaitingOf, type ThreadRun } from './record.ts';
import { checkOpenSend, nextSendAtMs, nextSendable, registerSend, send } from './send.ts';
import { joinWatch, syncThread } from './sync.ts';
import {
  type LoadedThread,
  publishAndWait,
  publishThread,
  recordChanges,
  saveChanges,
  type ThreadStepResult,
} from './thread-step.ts';
import { dropAuthor, endIfNotCreated } from './transitions.ts';

/** The thread is published this often while instructions are sent one after the other. */
const PUBLISH_INTERVAL_MS = 2000;

/** Data that the steps of one execution share. */
export interface Execution {
  publishedAtMs: number;
}

/** One step of a thread that follows a job: it sends before it publishes. */
export async function follow(
  { run, inbox, wakes }: LoadedThread,
  execution: Execution,
  context: JobContext,
): Promise<ThreadStepResult> {
  const { now, policy } = context;
  const delaysMs: number[] = [];
  const answerInMs = await checkOpenSend(run, context);
  if (answerInMs === 'next') return 'next';
  if (answerInMs > 0) delaysMs.push(answerInMs);
  const unregistered = run.instructions.find(
    ({ state, round }) => state === 'working' && round === undefined,
  );
  if (unregistered !== undefined) {
    await registerSend(run, unregistered, undefined, context);
    return 'next';
  }
  // The message about an ended limit is published before another limit replaces it.
  const hasEndedLimit = run.retry?.expired || run.limit?.expired;
  if (hasEndedLimit || now() - execution.publishedAtMs > PUBLISH_INTERVAL_MS) {
    await publishThread(run, context);
    execution.publishedAtMs = now();
  }

  const applied = await applyInbox(run, inbox, context);
  if (applied.pollRequested && run.agentJobId !== undefined)
    await updateWatch(run, (watch) => requestPoll(watch, now()), context);
  const sendable = nextSendable(applied.thread, now());
  // Checked right before the send, since the instruction may have waited for hours.
  const verdict = sendable && (await policy.check(sendable.by.id, 'agent'));
  const head = verdict?.kind === 'allowed' ? sendable : undefined;
  const thread =
    verdict?.kind === 'refused' && sendable
      ? dropAuthor(applied.thread, sendable.by.id, contactsText(verdict, policy.isOpen('agent')))
      : applied.thread;
  if (applied.consumed > 0 || head !== undefined || thread !== applied.thread) {
    if (head === undefined) return saveChanges(run, thread, applied.consumed, context);
    await recordChanges(run, thread, context);
    return send(thread, head, applied.consumed, context);
  }
  const isBlockedBySlack = verdict?.kind === 'unknown' || applied.isBlocked;
  if (isBlockedBySlack) delaysMs.push(lookupRetryMs(context));

  const latest = await syncWithWatch(run, context);
  const next = endIfNotCreated(endUnusedLimit(latest));
  if (next !== run) return saveChanges(run, next, 0, context);
  if (nextWaitingOf(run) !== undefined && nextSendAtMs(run) > now()) delaysMs.push(nextSendAtMs(run) - now());
  return publishAndWait(run, wakes, delaysMs, context);
}

/** Returns the thread with the state of its job's watch. A thread without a watch joins it. */
async function syncWithWatch(run: ThreadRun, context: JobContext): Promise<ThreadRun> {
  if (run.agentJobId === undefined) return run;
  if (!run.watched) {
    const watch = await updateWatch(run, (one) => addThread(one, run.id, context.now()), context);
    return syncThread(joinWatch(run, watch), watch);
  }
  const watch = await loadWatch(run, context);
  return watch === undefined ? { ...run, watched: false } : syncThread(run, watch);
}
