import { z } from 'zod';
import { mentionKind } from '../../jobs/agent/mention.ts';
import { agentActions, mentionButton, threadButton, threadClicks } from '../../jobs/agent/thread/buttons.ts';
import { applyClick } from '../../jobs/agent/thread/clicks.ts';
import { detailsMessage, stopQuestion } from '../../jobs/agent/thread/ephemeral-view.ts';
import { backgroundName, LEFT_OUT_TEXT, modeText } from '../../jobs/agent/thread/phrases.ts';
import {
  findInstruction,
  heldOf,
  isSoleAuthor,
  mayAnswer,
  type ThreadClick,
  type ThreadRun,
  threadKind,
} from '../../jobs/agent/thread/record.ts';
import { personName } from '../../jobs/shared/wording-view.ts';
import { type Message, message, preformatted } from '../../slack/blocks.ts';
import { reportView } from '../../slack/modals.ts';
import { type CommandTools, handledMessage } from '../intake.ts';
import { defineButton } from '../registry.ts';
import { appendThreadEvent, followJob, newClick } from './follow.ts';

type Action = ThreadClick['action'];

/** The answers to a question, which only the person asked may give. */
const authorActions: ReadonlySet<Action> = new Set([
  ...(['send', 'notForAgent', 'always', 'sendWithBackground', 'sendAlone', 'cancel'] as const),
]);

/** The buttons of a followed thread. Its job handles the clicks; this code only answers clicks that change nothing. */
const threadButtons = threadClicks.map((action) =>
  defineButton({
    action: agentActions[action],
    may: 'agent',
    value: threadButton,
    closesQuestion: authorActions.has(action) ? 'replace' : action === 'stop' ? 'remove' : undefined,
    async run({ run, ...about }, caller, tools): Promise<Message | undefined> {
      const thread = await tools.intake.loadVisible(run, threadKind, caller, notFollowed);
      if (thread.state === 'ended') return notFollowed;
      const click = newClick(action, caller, tools, about);
      const one = thread.instructions.find(({ id }) => click.about.includes(id));
      if (authorActions.has(action) && one && !mayAnswer(one, caller.user.id, action === 'sendAlone'))
        return message([`Only ${personName(one.by.name)} can answer this. It's about their message.`]);
      // The reducer ignores a click if an earlier click has answered.
      if (applyClick(thread, click) === thread) return handledByMessage(thread, click);
      await appendThreadEvent(thread, click, caller, tools);
      return confirmationMessage(thread, click, tools);
    },
  }),
);

/** Confirms a click that counts, if nothing else shows it. */
function confirmationMessage(thread: ThreadRun, click: ThreadClick, { backgroundMode }: CommandTools) {
  const { action, by } = click;
  const { background } = findInstruction(thread, click.about[0]) ?? {};
  // If the answer has no effect on this person's later replies, the text does not mention them.
  const isForAll = thread.mode === 'all' || thread.answers[by.id] === 'always' || isSoleAuthor(thread, by.id);
  const hint = (whom: string) =>
    isForAll ? '' : ` From now on, mention @Docket when your reply is for ${whom}.`;
  const mayAsk =
    backgroundMode === 'ask' &&
    heldOf(thread, by.id).some(({ backgroundSource }) => backgroundSource !== undefined);
  const first = mayAsk ? ' I may ask you first about the earlier messages.' : '';
  const sent = `It goes to the agent.${first}${hint('it')}`;
  const texts: Partial<Record<Action, string | undefined>> = {
    send: sent,
    notForAgent: `Not sent.${hint('the agent')}`,
    // If only mentions count, no answer makes other replies count.
    always:
      thread.mode === 'mention' ? sent : `It goes to the agent, and so do your later replies here.${first}`,
    sendWithBackground: background && `It goes to the agent with ${backgroundName(background)}.`,
    sendAlone: 'It goes to the agent without the earlier messages.',
    sendOnlyTheirs: 'It goes to the agent without the earlier messages.',
    cancel: 'Not sent.',
    onlyMentioned: modeText('mention'),
    allReplies: modeText('all'),
    checkJob: 'Checking now.',
  };
  const text = texts[action];
  return text === undefined ? undefined : message([text]);
}

/** Answers a click that came after somebody else's. */
function handledByMessage({ instructions }: ThreadRun, { about: [id], attempt, by }: ThreadClick) {
  const { problem } = instructions.find((one) => one.id === id) ?? {};
  const answer = problem?.attempt === attempt ? problem.answer : undefined;
  if (answer === undefined || answer.action === 'late') return handledMessage(undefined, by.id);
  const did = answer.action === 'leave' ? 'chose not to send it again' : 'sent it again';
  return handledMessage({ ...answer.by, did }, by.id);
}

const notFollowed = message(['This thread no longer follows a job, so nothing changed.']);

const forgotten = message(['I no longer remember this request. Type it once more.']);

/** [Follow again] on the card of a thread that no longer follows a job: earlier replies there are no requests. */
const followAgainButton = defineButton({
  action: agentActions.followAgain,
  may: 'agent',
  value: threadButton,
  async run({ run }, caller, tools): Promise<Message | undefined> {
    const thread = await tools.intake.loadVisible(run, threadKind, caller, notFollowed);
    const { agentJobId: jobId, project, place } = thread;
    if (jobId === undefined || place === undefined) return notFollowed;
    return followJob({ jobId, text: '', project, under: { rootTs: place.rootTs } }, caller, tools);
  },
});

/** [Try again] in the private answer that the platform cannot create jobs: repeats the request with the same text. */
const tryAgainButton = defineButton({
  action: agentActions.tryAgain,
  may: 'agent',
  value: threadButton,
  closesQuestion: 'remove',
  async run({ run: id }, caller, tools): Promise<Message | undefined> {
    const thread = await tools.intake.loadVisible(id, threadKind, caller, forgotten);
    const { asked, instructions, project } = thread;
    const { text = '', background } = instructions.find(({ creates }) => creates) ?? {};
    if (text === '') return forgotten;
    const { channel, rootTs, ts } = asked;
    const isThere = rootTs !== undefined && channel === caller.channel.id;
    const under = isThere ? { rootTs, ts } : undefined;
    // A second click creates no second job.
    return followJob({ text, background, project, under }, { ...caller, requestId: `again ${id}` }, tools);
  },
});

/** The answers to the offer under a mention create a job from its text. One sends its background, too. */
const startButtons = (['startNew', 'startAlone', 'startWithBackground', 'dismiss'] as const).map((action) =>
  defineButton({
    action: agentActions[action],
    may: 'agent',
    value: mentionButton,
    closesQuestion: 'replace',
    async run({ mention: id }, caller, tools): Promise<Message | undefined> {
      const mention = await tools.intake.loadVisible(id, mentionKind, caller, forgotten);
      if (action === 'dismiss') return message(['Not sent.']);
      const { offer, reply } = mention;
      if (offer === undefined) return forgotten;
      const background = action === 'startWithBackground' ? mention.background : undefined;
      const under = { rootTs: reply.threadTs ?? reply.ts, ts: reply.ts };
      const request = { text: offer, background, project: undefined, under, reply };
      // A second click, on either button, creates no second job.
      await followJob(request, { ...caller, requestId: `new ${id}` }, tools);
      const along = background ? `, with ${backgroundName(background)}` : '';
      return message([`A job starts in this thread${along}.${reply.files ? ` ${LEFT_OUT_TEXT}` : ''}`]);
    },
  }),
);

/** [Read all] under both questions about a background: a modal shows every character of it to the author. */
const showBackgroundButton = defineButton({
  action: agentActions.showBackground,
  may: 'agent',
  value: z.union([threadButton, mentionButton]),
  async run(value, caller, tools): Promise<Message | undefined> {
    const { intake, openModal } = tools;
    const asked =
      'mention' in value
        ? await intake.loadVisible(value.mention, mentionKind, caller, forgotten)
        : findInstruction(await intake.loadVisible(value.run, threadKind, caller, forgotten), value.about[0]);
    const isOthers = asked && 'by' in asked && asked.by.id !== caller.user.id;
    if (!asked?.background || isOthers) return forgotten;
    return openModal(caller, reportView('Earlier messages', [preformatted(asked.background.text)]));
  },
});

/** The entries of a card's menu that answer with a modal or a question. */
const cardButtons = (['details', 'askStop'] as const).map((action) =>
  defineButton({
    action: agentActions[action],
    may: 'agent',
    value: threadButton,
    async run({ run }, caller, { intake, openModal }): Promise<Message | undefined> {
      const thread = await intake.loadVisible(run, threadKind, caller, notFollowed);
      if (action === 'details')
        return openModal(caller, reportView('Agent job', detailsMessage(thread).blocks));
      return thread.state === 'ended' ? notFollowed : stopQuestion(thread);
    },
  }),
);

export const agentButtons = [
  ...threadButtons,
  ...cardButtons,
  followAgainButton,
  ...startButtons,
  tryAgainButton,
  showBackgroundButton,
];
