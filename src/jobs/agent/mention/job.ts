import { type Message, message } from '../../../slack/blocks.ts';
import { SlackApiError } from '../../../slack/errors.ts';
import { findMentions, messageToMarkdown } from '../../../slack/markdown/message.ts';
import { NamesUnknown } from '../../../slack/names.ts';
import { lengthOf } from '../../../slack/text.ts';
import { contactsText } from '../../ask-whom.ts';
import type { JobContext } from '../../context.ts';
import { done, type Outcome, runAgainIn } from '../../job.ts';
import { defineRunJob } from '../../run-job.ts';
import { missingScopeText } from '../../wording-view.ts';
import { excerptOf, parseThreadText } from '../thread-text.ts';
import { type MentionAnswer, type MentionRun, mentionRun } from './record.ts';
import { mentionMessage } from './view.ts';

/** Nobody waits for a private answer any longer than this. */
const GIVE_UP_MS = 10 * 60_000;

/** Until a card that was posted just now is known to be the root of a followed thread. */
const FOLLOW_GRACE_MS = 10_000;

/** Answers somebody who mentioned the app where no agent job is followed, once and privately. */
export const mentionJob = defineRunJob({
  name: 'agent-mention',
  queue: 'slack-outbox',
  concurrency: 5,
  schema: mentionRun,
  step: ({ run }, context) =>
    run.answer === undefined ? decideAnswer(run, context) : sendAnswer(run, run.answer, context),
  giveUp: ({ run }, context) => finish(run, context),
});

/** Finds out what to say, and keeps that alone: of the message nothing is needed but what a button is about. */
async function decideAnswer(run: MentionRun, context: JobContext): Promise<Outcome> {
  const { policy, runs, log, now } = context;
  const earlyMs = run.early ? run.sinceMs + FOLLOW_GRACE_MS - now() : 0;
  if (earlyMs > 0) return runAgainIn(earlyMs);
  if (run.early && (await isFollowed(run, context))) return finish(run, context);
  const { user, external } = run.reply;
  const verdict = await policy.check(user, 'agent', { external });
  if (verdict.kind === 'unknown')
    return verdict.missingScope
      ? postAnswer(run, message([[missingScopeText]]), context)
      : retryLater(run, 'Slack does not tell who it is', context);
  const { name } = verdict.person;
  let answer: MentionAnswer;
  if (verdict.kind === 'refused') {
    answer = { kind: 'refused', ask: contactsText(verdict.ask, policy.isOpen('agent')) };
    await auditRefusal(run, name, context);
  } else {
    const text = await readText(run, context);
    if (text === undefined) return retryLater(run, 'Slack does not tell the names in it', context);
    answer = answerFor(run, text, context.limits.instructionCharacters);
  }
  const saved = await runs.save({ ...run, reply: { ...run.reply, content: {} }, name, answer });
  if (saved !== undefined) return sendAnswer(saved, answer, context);
  log.info({ run: run.id }, 'the run was changed meanwhile');
  return runAgainIn(0);
}

/** Whether the thread has come to be followed since. Then the reply is for its run, which has it already. */
async function isFollowed({ teamId, reply, threadTs }: MentionRun, { threads }: JobContext) {
  const place = { teamId, channel: reply.channel, rootTs: threadTs ?? reply.ts };
  const result = await threads.appendToThread(
    'agent-thread',
    place,
    { event: reply, dedupeKey: reply.ts },
    false,
  );
  return result.kind !== 'notFollowed';
}

async function readText(
  { reply: { content }, botUserId, id }: MentionRun,
  { names, log }: JobContext,
): Promise<string | undefined> {
  try {
    return messageToMarkdown(content, await names(findMentions(content)), {
      withoutMention: botUserId,
    }).trim();
  } catch (error) {
    if (!(error instanceof NamesUnknown)) throw error;
    log.info({ run: id, err: error }, 'names in a mention are not known yet');
    return undefined;
  }
}

function answerFor({ problem }: MentionRun, text: string, most: number): MentionAnswer {
  const parsed = parseThreadText(text);
  switch (parsed.kind) {
    case 'follow':
      return problem === undefined ? { kind: 'help' } : { kind: 'project', problem, jobId: parsed.jobId };
    case 'badFollow':
      return { kind: 'badFollow' };
    case 'command':
      return { kind: parsed.command === 'help' ? 'help' : 'notFollowed' };
    case 'instruction':
      return lengthOf(text) > most
        ? { kind: 'tooLong', characters: lengthOf(text), most }
        : { kind: 'offer', text, excerpt: excerptOf(text) };
    case 'aside':
    case 'empty':
      return { kind: 'help' };
  }
}

async function auditRefusal(run: MentionRun, name: string, { audit, now, log }: JobContext) {
  const { teamId } = run;
  const { user, channel } = run.reply;
  log.warn({ what: 'mention', user, channel, team: teamId }, 'a request was refused');
  await audit.add(teamId, {
    atMs: now(),
    user: { id: user, name },
    channel,
    what: 'mention',
    subject: '',
    result: 'refused: not permitted',
  });
}

const sendAnswer = (run: MentionRun, answer: MentionAnswer, context: JobContext) =>
  postAnswer(run, mentionMessage(run.id, answer), context);

/** Says it once, to whoever wrote the mention. */
async function postAnswer(run: MentionRun, content: Message, context: JobContext): Promise<Outcome> {
  const { slack, callOnceInSlack, log } = context;
  const { threadTs } = run;
  const { channel, user } = run.reply;
  const to = { channel, user, ...(threadTs !== undefined && { threadTs }) };
  const outcome = await callOnceInSlack(run.id, 'whisper', async () => {
    await slack.postEphemeralTo(to, content);
    return true;
  });
  if (outcome.kind === 'inFlight') return runAgainIn(outcome.forMs);
  if (outcome.kind !== 'notHappened') return finish(run, context);
  const { error } = outcome;
  if (error instanceof SlackApiError && (error.kind === 'limited' || error.kind === 'unreachable'))
    return retryLater(run, error.code, context, error.retryAfterMs);
  log.warn({ err: error, run: run.id }, 'Slack did not take a private answer to a mention');
  return finish(run, context);
}

/** As long again as it has taken so far: the pauses double without a count of them. */
async function retryLater(
  run: MentionRun,
  why: string,
  context: JobContext,
  atLeastMs = 0,
): Promise<Outcome> {
  const { now, random, log } = context;
  const { retryMinMs, retryMaxMs } = context.timing;
  const sinceMs = now() - run.sinceMs;
  if (sinceMs > GIVE_UP_MS) {
    log.warn({ run: run.id, why }, 'a mention was not answered in time');
    return finish(run, context);
  }
  const pauseMs = Math.min(Math.max(sinceMs, retryMinMs), retryMaxMs) * (0.75 + random() / 2);
  return runAgainIn(Math.max(pauseMs, atLeastMs));
}

async function finish(run: MentionRun, { runs }: JobContext): Promise<Outcome> {
  await runs.markIdle(run, true);
  return done;
}
