import { type Message, message } from '../../../slack/blocks.ts';
import { SlackApiError } from '../../../slack/errors.ts';
import { NamesUnknown } from '../../../slack/lookups.ts';
import { type Names, noNames } from '../../../slack/markdown/inline.ts';
import {
  findMentions,
  leavesSharedOut,
  type MessageText,
  messageToMarkdown,
} from '../../../slack/markdown/message.ts';
import { lengthOf } from '../../../slack/text.ts';
import type { JobContext } from '../../context.ts';
import { type Outcome, runAgainIn } from '../../job.ts';
import { growingPauseMs } from '../../retry.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../../run-job.ts';
import { missingScopeText } from '../../wording-view.ts';
import { excerptOf, isTalk, parseThreadText, type ThreadText } from '../thread-text.ts';
import { type MentionAnswer, type MentionRun, mentionRun } from './record.ts';
import { mentionMessage } from './view.ts';

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
  step: ({ run }, context) =>
    run.answer === undefined
      ? decideAnswer(run, context)
      : postAnswer(run, mentionMessage(run.id, run.answer), context),
  giveUp: ({ run }, context) => markIdle(run, context),
});

/** Decides the answer and saves only that: the message itself is kept only for the answer's button. */
async function decideAnswer(run: MentionRun, context: JobContext): Promise<StepResult<MentionRun>> {
  const { policy, log } = context;
  const { user, external, channel, content } = run.reply;
  const read = (from: MessageText, names: Names) =>
    messageToMarkdown(from, names, { withoutMention: run.botUserId }).trim();
  // What is asked for needs no names, and without permission none is looked up.
  const parsed = parseThreadText(read(content, noNames));
  const permission = parsed.kind === 'export' ? 'export' : 'agent';
  const verdict = await policy.check(user, permission, { external });
  if (verdict.kind === 'unknown')
    return verdict.missingScope
      ? postAnswer(run, message([[missingScopeText]]), context)
      : retryLater(run, 'its author could not be looked up', context);
  const decided = { ...run, reply: { ...run.reply, content: {} }, name: verdict.person.name };
  // Help contains nothing that only some people may know.
  if (verdict.kind === 'refused' && (verdict.outsider === true || !asksForHelp(parsed))) {
    log.warn({ what: 'mention', user, channel, team: run.teamId }, 'a request was refused');
    return saveAs({ ...decided, answer: { kind: 'refused', ask: verdict.ask, permission } }, REFUSED);
  }
  if (parsed.kind !== 'export' && (await isInClosedThread(run, context)))
    return saveAs({ ...decided, answer: { kind: 'closed' } });
  if (parsed.kind !== 'instruction')
    return saveAs({ ...decided, answer: answerFor(run, parsed, '', context) });
  const names = await findNames(run, context);
  if (names === undefined) return retryLater(run, 'the names in it could not be looked up', context);
  const files = run.reply.files || leavesSharedOut(content, names);
  const answer = answerFor(run, parsed, read(content, names), context);
  return saveAs({ ...decided, reply: { ...decided.reply, files }, answer });
}

const REFUSED = { audit: 'refused: not permitted' };

const asksForHelp = (parsed: ThreadText) =>
  isTalk(parsed) || (parsed.kind === 'command' && parsed.command === 'help');

const isInClosedThread = async (
  { teamId, reply: { channel }, threadTs }: MentionRun,
  { threads }: JobContext,
) => threadTs !== undefined && (await threads.isClosed({ teamId, channel, rootTs: threadTs }));

async function findNames(
  { reply: { content }, id }: MentionRun,
  { names, log }: JobContext,
): Promise<Names | undefined> {
  try {
    return await names(findMentions(content));
  } catch (error) {
    if (!(error instanceof NamesUnknown)) throw error;
    log.info({ run: id, err: error }, 'the names in a mention could not be looked up');
    return undefined;
  }
}

function answerFor(
  { problem }: MentionRun,
  parsed: ThreadText,
  text: string,
  { limits: { instructionCharacters: most } }: JobContext,
): MentionAnswer {
  switch (parsed.kind) {
    case 'follow':
      return problem === undefined ? { kind: 'help' } : { kind: 'project', problem, jobId: parsed.jobId };
    case 'command':
      return { kind: parsed.command === 'help' ? 'help' : 'notFollowed' };
    case 'badFollow':
      return { kind: 'badFollow' };
    case 'instruction':
      return lengthOf(text) > most
        ? { kind: 'tooLong', characters: lengthOf(text), most }
        : { kind: 'offer', text, excerpt: excerptOf(text) };
    case 'export':
      return parsed;
    case 'aside':
    case 'empty':
    case 'smallTalk':
    case 'status':
      return { kind: 'help' };
  }
}

/** Posts the answer once to the author of the mention. */
async function postAnswer(run: MentionRun, content: Message, context: JobContext): Promise<Outcome> {
  const { slack, callOnce, timing, log } = context;
  const { threadTs } = run;
  const { channel, user } = run.reply;
  const to = { channel, user, ...(threadTs !== undefined && { threadTs }) };
  const outcome = await callOnce(run, 'whisper', timing.slackCallMs, () =>
    slack.postEphemeralTo(to, content),
  );
  if (outcome.kind === 'inFlight') return runAgainIn(outcome.forMs);
  if (outcome.kind !== 'notHappened') return markIdle(run, context);
  const { error } = outcome;
  if (error instanceof SlackApiError && (error.kind === 'limited' || error.kind === 'unreachable'))
    return retryLater(run, error.code, context, error.retryAfterMs);
  log.warn({ err: error, run: run.id }, 'Slack refused the ephemeral answer to a mention');
  return markIdle(run, context);
}

async function retryLater(
  run: MentionRun,
  why: string,
  context: JobContext,
  atLeastMs = 0,
): Promise<Outcome> {
  if (context.now() - run.sinceMs <= GIVE_UP_MS)
    return runAgainIn(Math.max(growingPauseMs(run.sinceMs, context), atLeastMs));
  context.log.warn({ run: run.id, why }, 'a mention was not answered in time');
  return markIdle(run, context);
}
