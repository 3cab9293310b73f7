import { Later } from '../../../runtime/later.ts';
import { SlackApiError } from '../../../slack/errors.ts';
import type { JobContext } from '../../engine/context.ts';
import { save } from '../../engine/job.ts';
import { slackRetryMs } from '../../engine/polling.ts';
import { awaitTime } from '../../engine/waits.ts';
import { postEphemeralOnce } from '../../shared/report.ts';
import { ephemeralMessage } from './ephemeral-view.ts';
import { updateInstruction } from './instructions.ts';
import type { ThreadRun } from './record.ts';
import { type Instruction, isRetracted } from './record.ts';
import type { StrandResult } from './strand.ts';

const DAY_MS = 24 * 3_600_000;

/** Opens a question about earlier messages to all, a day after its author was asked. */
export async function openQuestion(thread: ThreadRun, { now }: JobContext): StrandResult {
  const held = thread.instructions.find(({ state, question }) => state === 'held' && question);
  if (held?.question === undefined || held.question.isOpenToAll) return undefined;
  const question = { ...held.question, isOpenToAll: true };
  awaitTime(question.askedAtMs + DAY_MS, { now });
  return save(updateInstruction(thread, held.id, { question }));
}

/** Posts the first ephemeral. If Slack refuses it for now, the next try is kept: other strands may wake the thread before. */
export async function postEphemeral(thread: ThreadRun, context: JobContext): StrandResult {
  const { asked, place } = thread;
  const [first, ...ephemerals] = thread.ephemerals;
  if (first === undefined) return undefined;
  awaitTime(thread.ephemeralsAtMs, context);
  const at = first.place ?? place;
  const { channel } = at ?? asked;
  // Slack shows no ephemeral in a thread without replies; a thread that was not followed may have none.
  const threadTs = at?.rootTs ?? (asked.rootTs === asked.ts ? undefined : asked.rootTs);
  const to = { channel, user: first.to, threadTs };
  const message = ephemeralMessage(thread, first);
  const later = await postEphemeralOnce(thread, `note.${first.id}`, to, message, context);
  if (later === undefined) return save({ ...thread, ephemerals });
  return save({ ...thread, ephemeralsAtMs: context.now() + later.inMs });
}

/**
 * Returns the reaction for a reply: ⏸ while it is held, 👀 after it was taken and before its round shows a status. From
 * then on 👀 stays as it is. An instruction that is not a reply has none.
 */
function reactionOf({ isReply, state, round, reaction }: Instruction): Instruction['reaction'] {
  if (!isReply || state === 'notForAgent' || state === 'discarded' || state === 'withdrawn') return undefined;
  if (state === 'held') return 'double_vertical_bar';
  return round === undefined || reaction === 'eyes' ? 'eyes' : undefined;
}

/**
 * Sets the reaction of a reply. Repeated calls change nothing. A permanent refusal is not retried.
 */
export async function react(thread: ThreadRun, context: JobContext): StrandResult {
  const { place } = thread;
  const wantedFor = (one: Instruction) => (isRetracted(thread) ? undefined : reactionOf(one));
  const one = thread.instructions.find((each) => wantedFor(each) !== each.reaction);
  if (place === undefined || one === undefined) return undefined;
  const wanted = wantedFor(one);
  const message = { channel: place.channel, ts: one.id };
  try {
    if (one.reaction !== undefined) await context.slack.removeReaction(message, one.reaction);
    if (wanted !== undefined) await context.slack.addReaction(message, wanted);
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    context.log.info({ run: thread.id, ts: one.id, code: error.code }, 'cannot change a reaction');
    const retryInMs = slackRetryMs(error, context);
    if (retryInMs !== undefined) throw new Later(retryInMs);
  }
  return save(updateInstruction(thread, one.id, { reaction: wanted }));
}
