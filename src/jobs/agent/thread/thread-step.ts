import { SlackApiError } from '../../../slack/errors.ts';
import { UnreadableRun } from '../../../store/runs.ts';
import type { JobContext } from '../../context.ts';
import { done, runAgainIn } from '../../job.ts';
import { lookupRetryMs } from '../../retry.ts';
import type { LoadedRun, StepResult } from '../../run-job.ts';
import { auditChanges } from './audit.ts';
import { compactIdle, markFinal, withoutFinal } from './compact.ts';
import { leaveLine } from './follow-up-limit.ts';
import { noteMessage } from './note-view.ts';
import type { Note, ThreadRun } from './record.ts';
import { reactionsOf, threadMessages } from './view.ts';

// What the steps of a followed thread share.

/** A thread as a step finds it, with the events since, oldest first. */
export interface LoadedThread extends LoadedRun<ThreadRun> {
  inbox: unknown[];
}

/** Notes that are posted in one step: instructions are sent in between. */
const NOTES_PER_STEP = 3;

/** Saves a thread and drops the `consumed` events. The next step finds that, or what somebody else did meanwhile. */
export async function save(run: ThreadRun, consumed: number, { threads }: JobContext): Promise<StepResult> {
  await threads.save(run, consumed);
  return 'next';
}

/** Saves a thread after what changed is audited, and the instructions that no longer wait have left the line. */
export async function saveChanges(
  before: ThreadRun,
  after: ThreadRun,
  consumed: number,
  context: JobContext,
): Promise<StepResult> {
  await recordChanges(before, after, context);
  return save(after, consumed, context);
}

/** The part of `saveChanges` before the save, for changes that are saved together with the intent of a send. */
export async function recordChanges(before: ThreadRun, after: ThreadRun, context: JobContext): Promise<void> {
  await auditChanges(before, after, context);
  await leaveLine(before, after, context);
}

/** Returns whether `action` could be done: not while only a newer Docket can read the watch of the job. */
export async function ifReadable(action: () => Promise<unknown>, { log }: JobContext): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    if (!(error instanceof UnreadableRun)) throw error;
    log.error({ err: error }, 'the watch of an agent job cannot be read');
    return false;
  }
}

/** Publishes all messages and reactions of a thread as they are to look now. */
export async function publishThread(run: ThreadRun, { outbox }: JobContext): Promise<void> {
  const { teamId, id: runId, place } = run;
  const published = threadMessages(withoutFinal(run)).map((message) =>
    outbox.publish(teamId, { by: message.otherwise ?? run.owner.id, ...message }, run.rev),
  );
  const reacted =
    place && outbox.publishReactions({ teamId, runId, channel: place.channel }, reactionsOf(run), run.rev);
  await Promise.all([...published, reacted]);
}

/** Publishes everything and posts notes, then waits for the first of `delaysMs`, or until the thread is woken. */
export async function publishAndWait(
  run: ThreadRun,
  wakes: number,
  delaysMs: readonly number[],
  context: JobContext,
): Promise<StepResult> {
  const { runs, now } = context;
  await publishThread(run, context);
  const notes = await postNotes(run, context);
  const next = notes === run.notes ? compactIdle(markFinal(run), now()) : { ...run, notes };
  if (next !== run) return save(next, 0, context);
  const notesInMs = notes.map(({ notBeforeMs = 0 }) => Math.max(0, notBeforeMs - now()));
  const waitMs = Math.min(...delaysMs, ...notesInMs);
  if (waitMs !== Infinity) return runAgainIn(waitMs);
  return (await runs.markIdle(run, run.state === 'ended', wakes)) ? done : 'next';
}

/** Posts some of the notes that are due. Returns those that are left: the same list when none was tried. */
async function postNotes(thread: ThreadRun, context: JobContext): Promise<Note[]> {
  const isDue = ({ notBeforeMs = 0 }: Note) => notBeforeMs <= context.now();
  let left = thread.notes;
  for (const note of thread.notes.filter(isDue).slice(0, NOTES_PER_STEP)) {
    const retryInMs = await postNote(thread, note, context);
    // What Slack does not take of one, it takes of none.
    if (retryInMs !== undefined)
      return left.map((one) => ({ ...one, notBeforeMs: context.now() + retryInMs }));
    left = left.filter((one) => one !== note);
  }
  return left;
}

/** Returns in how many milliseconds to try again; nothing when the note is posted, or cannot be. */
async function postNote(thread: ThreadRun, note: Note, context: JobContext): Promise<number | undefined> {
  const { asked, place } = thread;
  const { channel } = place ?? asked;
  // In a thread without a reply Slack shows nobody an ephemeral; where none was followed, there may be no reply.
  const threadTs = place?.rootTs ?? (asked.rootTs === asked.ts ? undefined : asked.rootTs);
  const to = { channel, user: note.to, ...(threadTs !== undefined && { threadTs }) };
  const outcome = await context.callOnceInSlack(thread.id, `note.${note.id}`, () =>
    context.slack.postEphemeralTo(to, noteMessage(thread, note)),
  );
  if (outcome.kind === 'done' || outcome.kind === 'unknown') return undefined;
  if (outcome.kind === 'inFlight') return outcome.forMs;
  const { error } = outcome;
  if (!(error instanceof SlackApiError)) throw error;
  context.log.warn({ run: thread.id, code: error.code }, 'a private note was not taken');
  if (!['limited', 'unreachable', 'token'].includes(error.kind)) return undefined;
  return Math.max(error.retryAfterMs ?? 0, lookupRetryMs(context));
}
