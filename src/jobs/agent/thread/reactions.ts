import { TimeLimitError, withTimeout } from '../../../runtime/with-timeout.ts';
import { SlackApiError } from '../../../slack/errors.ts';
import type { JobContext } from '../../context.ts';
import { lookupRetryMs, slackRetryMs } from '../../retry.ts';
import type { Instruction } from './instruction.ts';
import { isRetracted, type ThreadRun } from './record.ts';
import { updateInstruction } from './transitions.ts';

/**
 * Returns the reaction for a reply: ⏸ while it is held, 👀 after it was taken and before its round shows a status. From
 * then on 👀 stays as it is. An instruction that is not a reply has none.
 */
function reactionOf({ isReply, state, outcome, round, reaction }: Instruction): Instruction['reaction'] {
  if (!isReply) return undefined;
  if (state === 'held') return 'double_vertical_bar';
  const isDropped = outcome === 'notForAgent' || outcome === 'discarded' || outcome === 'withdrawn';
  if (state === 'over' && isDropped) return undefined;
  return round === undefined || reaction === 'eyes' ? 'eyes' : undefined;
}

/** A step spends at most this long on a reaction: instructions come first. */
const REACTION_MS = 2000;

/**
 * Sets the reactions of replies. Repeated calls change nothing. Returns the thread with the new reactions, and when to
 * retry if Slack is unreachable or limits the calls. A permanent refusal is not retried.
 */
export async function showReactions(
  thread: ThreadRun,
  context: JobContext,
): Promise<{ thread: ThreadRun; retryInMs: number }> {
  let shown = thread;
  for (const one of thread.instructions) {
    const wanted = isRetracted(thread) ? undefined : reactionOf(one);
    if (thread.place === undefined || wanted === one.reaction) continue;
    try {
      const message = { channel: thread.place.channel, ts: one.id };
      await withTimeout(REACTION_MS, changeReaction(message, one.reaction, wanted, context));
    } catch (error) {
      if (error instanceof TimeLimitError) return { thread: shown, retryInMs: lookupRetryMs(context) };
      if (!(error instanceof SlackApiError)) throw error;
      context.log.info({ run: thread.id, ts: one.id, code: error.code }, 'cannot change a reaction');
      const retryInMs = slackRetryMs(error, context);
      if (retryInMs !== undefined) return { thread: shown, retryInMs };
    }
    shown = updateInstruction(shown, one.id, { reaction: wanted });
  }
  return { thread: shown, retryInMs: Infinity };
}

async function changeReaction(
  message: { channel: string; ts: string },
  before: Instruction['reaction'],
  wanted: Instruction['reaction'],
  { slack }: JobContext,
): Promise<void> {
  if (before !== undefined) await slack.removeReaction(message, before);
  if (wanted !== undefined) await slack.addReaction(message, wanted);
}
