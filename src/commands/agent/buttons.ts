import { mentionButton, mentionKind } from '../../jobs/agent/mention/record.ts';
import { agentActions, threadButton } from '../../jobs/agent/thread/buttons.ts';
import { type ThreadClick, threadClicks } from '../../jobs/agent/thread/event.ts';
import { LEFT_OUT_TEXT, modeText } from '../../jobs/agent/thread/phrases.ts';
import { isSoleAuthor, type Person, type ThreadRun, threadKind } from '../../jobs/agent/thread/record.ts';
import { applyClick, MODE_BY_ACTION } from '../../jobs/agent/thread/reducer.ts';
import { personName } from '../../jobs/wording-view.ts';
import { message } from '../../slack/blocks.ts';
import { type EphemeralMessage, replaceOriginal } from '../../slack/response-url.ts';
import { handledMessage } from '../intake.ts';
import { defineButton } from '../registry.ts';
import { auditThread, followJob } from './follow.ts';

type Action = ThreadClick['action'];

/** The answers to a question, which only the person asked may give. */
const authorActions: ReadonlySet<Action> = new Set(['send', 'notForAgent', 'always']);

/** The buttons of a followed thread. Its job handles the clicks; this code only answers clicks that change nothing. */
export const threadButtons = threadClicks.map((action) =>
  defineButton({
    action: agentActions[action],
    may: 'agent',
    value: threadButton,
    settles: authorActions.has(action) ? 'replace' : action === 'stop' ? 'remove' : undefined,
    async run({ run, about, attempt }, caller, tools): Promise<EphemeralMessage | undefined> {
      const thread = await tools.intake.loadVisible(run, threadKind, caller, notFound);
      const by: Person = { id: caller.user.id, name: caller.user.name };
      const event: ThreadClick = { kind: 'clicked', action, by, about, attempt, atMs: tools.now() };
      const refusal = refusalOf(thread, event);
      if (refusal !== undefined) return refusal.reply;
      // The reducer ignores a click if an earlier click has answered.
      const entry = { event, dedupeKey: `click ${action} ${caller.requestId}` };
      const outcome = await tools.intake.appendToInbox(thread.job, thread.id, entry, caller);
      if (outcome === 'gone') return notFound;
      await auditThread(thread, 'accepted', tools);
      return confirmationMessage(thread, event);
    },
  }),
);

/** Actions that count with each click. */
const repeatableActions: ReadonlySet<Action> = new Set(['checkJob', 'onlyMentioned', 'allReplies', 'stop']);

/** Confirms a click that counts, if nothing else shows it. */
function confirmationMessage(thread: ThreadRun, { action, by }: ThreadClick): EphemeralMessage | undefined {
  switch (action) {
    case 'send':
      return replaceOriginal(`It goes to the agent.${mentionHint(thread, by, 'it')}`);
    case 'notForAgent':
      return replaceOriginal(`Not sent.${mentionHint(thread, by, 'the agent')}`);
    case 'always':
      // If only mentions count, no answer makes other replies count.
      return thread.mode === 'mention'
        ? replaceOriginal(`It goes to the agent.${mentionHint(thread, by, 'it')}`)
        : replaceOriginal('It goes to the agent, and so do your later replies here.');
    case 'onlyMentioned':
    case 'allReplies':
      return message([[modeText(MODE_BY_ACTION[action])]]);
    case 'checkJob':
      return message([['Checking now.']]);
    case 'discard':
    case 'sendAgain':
    case 'leave':
    case 'stop':
      return undefined;
  }
}

/** The effect of an answer on this person's later replies; empty if there is none. */
function mentionHint(thread: ThreadRun, { id }: Person, whom: string): string {
  if (thread.mode === 'all' || isSoleAuthor(thread, id)) return '';
  return ` From now on, mention @Docket when your reply is for ${whom}.`;
}

/** Returns the reply to a click that changes nothing, by the record; sometimes no reply at all. */
function refusalOf(
  thread: ThreadRun,
  entry: ThreadClick,
): { reply: EphemeralMessage | undefined } | undefined {
  const { action, about, by } = entry;
  if (thread.state === 'ended') return { reply: threadEnded };
  if (repeatableActions.has(action)) return undefined;
  if (authorActions.has(action)) {
    const author = thread.instructions.find(({ id }) => about.includes(id))?.by;
    if (author !== undefined && author.id !== by.id) return { reply: notAuthorMessage(author) };
  }
  return applyClick(thread, entry) === thread ? { reply: handledByMessage(thread, entry) } : undefined;
}

/** Answers a click that came after somebody else's. */
function handledByMessage(
  { sendProblems: troubles }: ThreadRun,
  { about: [id], attempt, by }: ThreadClick,
): EphemeralMessage | undefined {
  const answer = troubles.find((trouble) => trouble.id === id && trouble.attempt === attempt)?.answer;
  if (answer === undefined) return handledMessage(undefined, by.id);
  const did = answer.action === 'leave' ? 'chose to leave it' : 'sent it again';
  return handledMessage({ ...answer.by, did }, by.id);
}

const notFound = message([['I no longer follow this thread.']]);

const threadEnded = message([['This thread no longer follows a job, so nothing was done.']]);

const notAuthorMessage = ({ name }: Person) =>
  message([[`Only ${personName(name)} can answer this: it's about their message.`]]);

/** [Follow again] on the card of a thread that no longer follows a job: earlier replies there are no instructions. */
export const followAgainButton = defineButton({
  action: agentActions.followAgain,
  may: 'agent',
  value: threadButton,
  async run({ run }, caller, tools): Promise<EphemeralMessage | undefined> {
    const thread = await tools.intake.loadVisible(run, threadKind, caller, notFound);
    const { agentJobId: jobId, project, place } = thread;
    if (jobId === undefined || place === undefined) return notFound;
    return followJob({ jobId, text: '', project, under: { rootTs: place.rootTs } }, caller, tools);
  },
});

/** [Try again] in the private answer that the platform cannot create jobs: repeats the request with the same text. */
export const tryAgainButton = defineButton({
  action: agentActions.tryAgain,
  may: 'agent',
  value: threadButton,
  settles: 'remove',
  async run({ run: id }, caller, tools): Promise<EphemeralMessage | undefined> {
    const thread = await tools.intake.loadVisible(id, threadKind, caller, nothingToRepeat);
    const text = thread.instructions.find(({ creates }) => creates)?.text ?? '';
    if (text === '') return nothingToRepeat;
    const { channel, rootTs, ts } = thread.asked;
    const isThere = rootTs !== undefined && channel === caller.channel.id;
    const under = isThere ? { rootTs, ...(ts !== undefined && { ts }) } : undefined;
    const again = { jobId: undefined, text, project: thread.project, ...(under && { under }) };
    // A second click creates no second job.
    return followJob(again, { ...caller, requestId: `again ${id}` }, tools);
  },
});

const nothingToRepeat = message([['I no longer remember this instruction. Type it once more.']]);

/** [Start a new job] under a mention: creates a job from its text, which the mention's thread follows. */
export const startNewButton = defineButton({
  action: agentActions.startNew,
  may: 'agent',
  value: mentionButton,
  settles: 'replace',
  async run({ mention: id }, caller, tools): Promise<EphemeralMessage | undefined> {
    const mention = await tools.intake.loadVisible(id, mentionKind, caller, mentionNotFound);
    if (mention.answer?.kind !== 'offer') return mentionNotFound;
    const { ts, files } = mention.reply;
    const request = {
      jobId: undefined,
      text: mention.answer.text,
      project: undefined,
      under: { rootTs: mention.threadTs ?? ts, ts },
      reply: { ts, files },
    };
    const started = `A new job starts in this thread.${files ? ` ${LEFT_OUT_TEXT}` : ''}`;
    // A second click creates no second job.
    return (
      (await followJob(request, { ...caller, requestId: `new ${id}` }, tools)) ?? replaceOriginal(started)
    );
  },
});

const mentionNotFound = message([
  ['I no longer remember this message. Mention me again with your instruction.'],
]);
