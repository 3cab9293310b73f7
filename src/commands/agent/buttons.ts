import { z } from 'zod';
import { mentionKind } from '../../jobs/agent/mention.ts';
import { agentActions, mentionButton, threadButton, threadClicks } from '../../jobs/agent/thread/buttons.ts';
import { backgroundName, LEFT_OUT_TEXT, modeText } from '../../jobs/agent/thread/phrases.ts';
import {
  findInstruction,
  heldOf,
  isSoleAuthor,
  type ThreadClick,
  type ThreadRun,
  threadKind,
} from '../../jobs/agent/thread/record.ts';
import { applyClick } from '../../jobs/agent/thread/reducer.ts';
import { personName } from '../../jobs/wording-view.ts';
import { type Message, message, preformatted } from '../../slack/blocks.ts';
import { reportView } from '../../slack/modals.ts';
import { type Caller, type CommandTools, handledMessage } from '../intake.ts';
import { defineButton } from '../registry.ts';
import { appendThreadEvent, followJob, newClick } from './follow.ts';

type Action = ThreadClick['action'];

/** The answers to a question, which only the person asked may give. */
const authorActions: ReadonlySet<Action> = new Set([
  ...(['send', 'notForAgent', 'always', 'sendWithBackground', 'sendAlone'] as const),
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
      const author = thread.instructions.find(({ id }) => click.about.includes(id))?.by;
      if (authorActions.has(action) && author !== undefined && author.id !== caller.user.id)
        return message([`Only ${personName(author.name)} can answer this: it's about their message.`]);
      // The reducer ignores a click if an earlier click has answered.
      if (applyClick(thread, click) === thread) return handledByMessage(thread, click);
      await appendThreadEvent(thread, click, caller, tools);
      return confirmationMessage(thread, click, tools);
    },
  }),
);

/** Confirms a click that counts, if nothing else shows it. */
function confirmationMessage(
  thread: ThreadRun,
  { action, about: [id], by }: ThreadClick,
  { contextMode }: CommandTools,
): Message | undefined {
  const { background } = findInstruction(thread, id) ?? {};
  // If the answer has no effect on this person's later replies, the text does not mention them.
  const isForAll = thread.mode === 'all' || isSoleAuthor(thread, by.id);
  const hint = (whom: string) =>
    isForAll ? '' : ` From now on, mention @Docket when your reply is for ${whom}.`;
  const mayAsk =
    contextMode === 'ask' && heldOf(thread, by.id).some(({ conversation }) => conversation !== undefined);
  const first = mayAsk ? ' I may ask you first about the messages above.' : '';
  const sent = `It goes to the agent.${first}${hint('it')}`;
  const texts: Partial<Record<Action, string | undefined>> = {
    send: sent,
    notForAgent: `Not sent.${hint('the agent')}`,
    // If only mentions count, no answer makes other replies count.
    always:
      thread.mode === 'mention' ? sent : `It goes to the agent, and so do your later replies here.${first}`,
    sendWithBackground: background && `It goes to the agent with ${backgroundName(background)}.`,
    sendAlone: 'It goes to the agent without the conversation.',
    onlyMentioned: modeText('mention'),
    allReplies: modeText('all'),
    checkJob: 'Checking now.',
  };
  const text = texts[action];
  return text === undefined ? undefined : message([text]);
}

/** Answers a click that came after somebody else's. */
function handledByMessage(
  { instructions }: ThreadRun,
  { about: [id], attempt, by }: ThreadClick,
): Message | undefined {
  const { problem } = instructions.find((one) => one.id === id) ?? {};
  const answer = problem?.attempt === attempt ? problem.answer : undefined;
  if (answer === undefined) return handledMessage(undefined, by.id);
  const did = answer.action === 'leave' ? 'chose to leave it' : 'sent it again';
  return handledMessage({ ...answer.by, did }, by.id);
}

const notFollowed = message(['This thread no longer follows a job, so nothing was done.']);

const forgotten = message(['I no longer remember this instruction. Type it once more.']);

/** [Follow again] on the card of a thread that no longer follows a job: earlier replies there are no instructions. */
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

/** [Start a new job] under a mention: creates a job from its text, which the mention's thread follows. */
const startNewButton = startButton(agentActions.startNew, false);

/** [Send with the messages above]: also sends the mention's background. */
const startWithButton = startButton(agentActions.startWithBackground, true);

function startButton(action: string, isWithBackground: boolean) {
  return defineButton({
    action,
    may: 'agent',
    value: mentionButton,
    closesQuestion: 'replace',
    async run({ mention: id }, caller, tools): Promise<Message | undefined> {
      const mention = await tools.intake.loadVisible(id, mentionKind, caller, forgotten);
      const { offer, reply } = mention;
      if (offer === undefined) return forgotten;
      const background = isWithBackground ? mention.background : undefined;
      const under = { rootTs: reply.threadTs ?? reply.ts, ts: reply.ts };
      const request = { text: offer, background, project: undefined, under, reply };
      // A second click, on either button, creates no second job.
      await followJob(request, { ...caller, requestId: `new ${id}` }, tools);
      const along = background ? `, with ${backgroundName(background)}` : '';
      return message([`A new job starts in this thread${along}.${reply.files ? ` ${LEFT_OUT_TEXT}` : ''}`]);
    },
  });
}

/** [Show all] under both questions about a background: a modal shows every character of it to the author. */
const showBackgroundButton = defineButton({
  action: agentActions.showBackground,
  may: 'agent',
  value: z.union([threadButton, mentionButton]),
  async run(value, caller, tools): Promise<Message | undefined> {
    const { background } =
      'mention' in value
        ? await tools.intake.loadVisible(value.mention, mentionKind, caller, forgotten)
        : ((await loadOwn(value, caller, tools)) ?? {});
    if (background === undefined) return forgotten;
    await tools.openModal(caller, reportView('What goes along', [preformatted(background.text)]));
    return undefined;
  },
});

/** Returns the instruction that a button names, if this person wrote it. */
async function loadOwn(
  { run, about: [id] }: z.infer<typeof threadButton>,
  caller: Caller,
  tools: CommandTools,
) {
  const thread = await tools.intake.loadVisible(run, threadKind, caller, forgotten);
  const one = findInstruction(thread, id);
  return one?.by.id === caller.user.id ? one : undefined;
}

export const agentButtons = [
  ...threadButtons,
  followAgainButton,
  startNewButton,
  startWithButton,
  tryAgainButton,
  showBackgroundButton,
];
