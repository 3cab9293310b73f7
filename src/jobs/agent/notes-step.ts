import { SlackApiError } from '../../slack/errors.ts';
import { backoffMs } from '../../timing.ts';
import type { AgentContext } from './context.ts';
import { noteMessage } from './note-view.ts';
import type { Note, ThreadRun } from './thread.ts';

/**
 * Says one note to its person, once. Answers when to try again, in milliseconds; nothing when it is settled: said, or
 * lost for good. What it is about stands in the thread's record and shows by a reaction, so nothing but the words is
 * lost with it.
 */
export async function whisper(
  thread: ThreadRun,
  note: Note,
  context: AgentContext,
): Promise<number | undefined> {
  const { channel } = thread.place ?? thread.asked;
  // In a thread without a reply Slack shows nobody a private answer; where none was followed, there may be none.
  const threadTs = thread.place?.rootTs;
  const to = { channel, user: note.to, ...(threadTs !== undefined && { threadTs }) };
  const told = await context.onceInSlack(thread.id, `note.${note.id}`, () =>
    context.slack.whisper(to, noteMessage(thread, note)),
  );
  if (told.kind === 'done' || told.kind === 'unknown') return undefined;
  if (told.kind === 'inFlight') return told.forMs;
  const { error } = told;
  if (!(error instanceof SlackApiError)) throw error;
  context.log.warn({ run: thread.id, code: error.code }, 'a private note was not taken');
  if (!['limited', 'unreachable', 'token'].includes(error.kind)) return undefined;
  return Math.max(error.retryAfterMs ?? 0, backoffMs(context.timing, 3, context.random()));
}
