import { backoffMs } from '../../../runtime/timing.ts';
import { SlackApiError } from '../../../slack/errors.ts';
import type { JobContext } from '../../context.ts';
import { noteMessage } from './note-view.ts';
import type { Note, ThreadRun } from './record.ts';

/** What is said in one step: instructions go out between them. */
const NOTES_PER_STEP = 3;

/**
 * Says the notes whose time has come, a few at a time. Answers those that are left, the very same list when none was
 * tried. What a note is about stands in the thread's record and shows by a reaction, so nothing but the words is lost
 * with it.
 */
export async function postNotes(thread: ThreadRun, context: JobContext): Promise<Note[]> {
  const due = thread.notes
    .filter(({ notBeforeMs = 0 }) => notBeforeMs <= context.now())
    .slice(0, NOTES_PER_STEP);
  const posted = new Set<Note>();
  for (const note of due) {
    const retryInMs = await postNote(thread, note, context);
    if (retryInMs === undefined) posted.add(note);
    else {
      // What Slack does not take of one, it takes of none.
      const notBeforeMs = context.now() + retryInMs;
      return thread.notes.filter((one) => !posted.has(one)).map((one) => ({ ...one, notBeforeMs }));
    }
  }
  return posted.size === 0 ? thread.notes : thread.notes.filter((one) => !posted.has(one));
}

/** Says one note, once. Answers when to try again, in milliseconds; nothing when it is said, or lost for good. */
async function postNote(thread: ThreadRun, note: Note, context: JobContext): Promise<number | undefined> {
  const { channel } = thread.place ?? thread.asked;
  // In a thread without a reply Slack shows nobody a private answer; where none was followed, there may be none.
  const { rootTs, ts } = thread.asked;
  const threadTs = thread.place?.rootTs ?? (rootTs === ts ? undefined : rootTs);
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
  return Math.max(error.retryAfterMs ?? 0, backoffMs(context.timing, 3, context.random()));
}
