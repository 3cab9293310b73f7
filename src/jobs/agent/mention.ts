import { z } from 'zod';
import { Later, orWait } from '../../runtime/later.ts';
import { message } from '../../slack/blocks.ts';
import { type Names, noNames } from '../../slack/markdown/inline.ts';
import { findMentions, leavesSharedOut, messageToMarkdown } from '../../slack/markdown/message.ts';
import { lengthOf } from '../../slack/text.ts';
import { idOf } from '../../store/keys.ts';
import { wantedMessage } from '../../store/messages.ts';
import { runBase } from '../../store/runs.ts';
import type { JobContext } from '../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../engine/job.ts';
import { lookupRetryMs } from '../engine/polling.ts';
import type { VisibleKind } from '../shared/origin.ts';
import { postEphemeralOnce } from '../shared/report.ts';
import { missingScopeText, notPermittedText } from '../shared/wording-view.ts';
import { background } from './background.ts';
import { readBackground } from './read-background.ts';
import { closedThreadMessage, mentionMessage, offerMessage } from './thread/ephemeral-view.ts';
import { tooLongText } from './thread/phrases.ts';
import { newReply } from './thread/record.ts';
import { excerptOf, isTalk, parseThreadText } from './thread-text.ts';

const answer = wantedMessage.pick({ text: true, blocks: true });

/** A mention of the app outside followed threads. All times are epoch milliseconds. */
export const mentionRun = runBase.extend({
  job: z.literal('agent-mention'),
  /** Slack's user id of the app, which is removed from the text. */
  botUserId: z.string(),
  /** Its `content` is empty once the answer is known. */
  reply: newReply,
  /** Says why the job that it asks for is not followed. */
  problem: answer.optional(),
  sinceMs: z.number(),
  /** The author's name, once it is known. */
  name: z.string().optional(),
  /** Missing until the author and their permissions are known. */
  answer: answer.optional(),
  /** The Markdown for a new job, if the answer offers one. */
  offer: z.string().optional(),
  /** What may go along with it. */
  background: background.optional(),
});
export type MentionRun = z.infer<typeof mentionRun>;

/** Only the author sees the answer to a mention. */
export const mentionKind: VisibleKind<MentionRun> = {
  what: 'message',
  record: mentionRun,
  visible: ({ reply }) => ({
    by: { id: reply.user },
    asked: { channel: reply.channel, isPublic: false },
    inDirectMessage: true,
  }),
};

/** Returns the run of a mention. Repeats of the same Slack message give the same run. */
export const newMention = (
  mention: Pick<MentionRun, 'teamId' | 'botUserId' | 'reply' | 'problem'>,
  nowMs: number,
): MentionRun => ({
  id: idOf('agent-mention', mention.teamId, mention.reply.channel, mention.reply.ts),
  job: 'agent-mention',
  rev: 1,
  people: [],
  ...mention,
  sinceMs: nowMs,
});

/** After this, nobody waits for an answer any more. */
const GIVE_UP_MS = 10 * 60_000;

/** Answers a mention outside followed threads, once, by an ephemeral to its author. */
export const mentionJob = defineRunJob({
  name: 'agent-mention',
  queue: 'slack-outbox',
  concurrency: 5,
  schema: mentionRun,
  auditLine: ({ reply: { user, channel }, name = user }) => ({
    user: { id: user, name },
    channel,
    what: 'mention',
    subject: '',
  }),
  async step(run, context): Promise<StepResult<MentionRun>> {
    const { answer } = run;
    const result = await orWait(answer ? postAnswer(run, answer, context) : decideAnswer(run, context));
    const isWaiting = result !== 'next' && result.kind === 'wait';
    if (!isWaiting || context.now() - run.sinceMs <= GIVE_UP_MS) return result;
    context.log.warn({ run: run.id }, 'a mention was not answered in time');
    return idle;
  },
  giveUp: async () => idle,
});

async function postAnswer(run: MentionRun, content: NonNullable<MentionRun['answer']>, context: JobContext) {
  const { channel, user, threadTs } = run.reply;
  return (await postEphemeralOnce(run, 'whisper', { channel, user, threadTs }, content, context)) ?? idle;
}

/** Decides the answer and saves only that: the message itself is kept only for the answer's button. */
async function decideAnswer(run: MentionRun, context: JobContext): Promise<StepResult<MentionRun>> {
  const { policy, log } = context;
  const { teamId, reply } = run;
  const { user, external, channel, threadTs, content } = reply;
  const read = (names: Names) => messageToMarkdown(content, names, { withoutMention: run.botUserId }).trim();
  // The kind of request does not depend on names. Without the permission, none is looked up.
  const parsed = parseThreadText(read(noNames));
  const permission = parsed.kind === 'export' ? 'export' : 'agent';
  const verdict = await policy.check(user, permission, { external });
  if (verdict.kind === 'unknown' && !verdict.missingScope) throw new Later(lookupRetryMs(context));
  if (verdict.kind === 'unknown') return save({ ...run, answer: message([[missingScopeText]]) });
  const decided = { ...run, reply: { ...reply, content: {} }, name: verdict.person.name };
  // Help contains nothing that only some people may know.
  const isForHelp = isTalk(parsed) || (parsed.kind === 'command' && parsed.command === 'help');
  if (verdict.kind === 'refused' && (verdict.outsider === true || !isForHelp)) {
    log.warn({ what: 'mention', user, channel, team: teamId }, 'a request was refused');
    const refusal = message([[notPermittedText(permission, verdict.contacts)]]);
    return save({ ...decided, answer: refusal }, { audit: 'refused: not permitted' });
  }
  const place = threadTs !== undefined && { teamId, channel, rootTs: threadTs };
  if (parsed.kind !== 'export' && place && (await context.store.threads.isClosed(place)))
    return save({ ...decided, answer: closedThreadMessage });
  if (parsed.kind !== 'instruction') return save({ ...decided, answer: mentionMessage(run, parsed) });
  const names = await context.slack.names(findMentions(content)).catch(() => undefined);
  if (names === undefined) throw new Later(lookupRetryMs(context));
  const text = read(names);
  const most = context.settings.limits.instructionCharacters;
  const tooLong = `${tooLongText(lengthOf(text), most)} Nothing was sent.`;
  if (lengthOf(text) > most) return save({ ...decided, answer: message([tooLong]) });
  const backgroundSource = threadTs !== undefined && { channel, rootTs: threadTs, before: reply.ts };
  const found = backgroundSource
    ? await readBackground(run, backgroundSource, run.sinceMs, context)
    : undefined;
  const files = reply.files || leavesSharedOut(content, names);
  const answer = offerMessage(run.id, excerptOf(text), found);
  return save({ ...decided, reply: { ...decided.reply, files }, answer, offer: text, background: found });
}
