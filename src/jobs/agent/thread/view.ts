import {
  type ButtonParts,
  type Layout,
  layout,
  type MenuParts,
  type Message,
  message,
  openThreadButton,
  openThreadLink,
  type Part,
} from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import {
  countOf,
  cut,
  formatCount,
  formatDuration,
  messageUrl,
  sanitizeUserText,
  singleLine,
  visibleText,
} from '../../../slack/text.ts';
import {
  keyRemedyText,
  nameTo,
  personName,
  projectMissingText,
  pullRequestName,
  pullRequestPart,
  type StateWord,
  stateParts,
} from '../../wording-view.ts';
import { agentActions, checkButton, stopButton, threadButtonOf } from './buttons.ts';
import { workMessages } from './messages-view.ts';
import {
  jobName,
  pullRequestButton,
  refText,
  shownPollFailure,
  sourceName,
  unsentText,
  waitingText,
} from './phrases.ts';
import {
  acceptsInstructions,
  type DigestOrigin,
  type Instruction,
  isPending,
  isRetracted,
  type ThreadRun,
  unresolvedSendOf,
} from './record.ts';
import { type AskEnding, askEnding, isAskSettled } from './transitions.ts';

/** Maximum length of an instruction in a message, with room for the text around it. */
const MAX_SHOWN_INSTRUCTION = 12_000;

/** Returns the key of the card. The card in direct messages is a different message from the channel's. */
export const cardKey = ({ id, inDirectMessage }: ThreadRun) => `${id}.card${inDirectMessage ? '.dm' : ''}`;

/**
 * Returns every message of a thread in its present form, except ephemerals. Without `workspaceUrl` the lines under
 * digests have no link to the thread.
 */
export const threadMessages = (thread: ThreadRun, workspaceUrl?: string): OutboxMessage[] => [
  ...ownMessages(thread),
  ...digestLines(thread, workspaceUrl),
];

function ownMessages(thread: ThreadRun): OutboxMessage[] {
  if (thread.state === 'accepted' || wasNeverFollowed(thread)) return [];
  const card: OutboxMessage = {
    key: cardKey(thread),
    place: cardPlace(thread),
    kind: 'state',
    message: cardMessage(thread),
    ...(thread.state === 'following' && { lasting: true }),
    ...(thread.ended?.why === 'stopped' && { interactive: true }),
  };
  if (thread.place === undefined) return [card];
  const place = { channel: thread.place.channel, threadTs: thread.place.rootTs };
  if (isRetracted(thread)) {
    const posted = [card, ...instructionMessages(thread, place)];
    return posted.map((message) => ({ ...message, retracted: true }));
  }
  return [card, ...instructionMessages(thread, place), ...workMessages(thread, place)];
}

/** The full instruction of a command or modal; the card has only its beginning, and Slack no other copy. */
function instructionMessages(
  { id, title, instructions }: ThreadRun,
  place: OutboxMessage['place'],
): OutboxMessage[] {
  const { isReply = true, text: written = '', round } = instructions.find(({ creates }) => creates) ?? {};
  const text = visibleText(written);
  const isWhole = !title?.endsWith('…') && !text.includes('\n');
  if (round !== undefined || isReply || text === '' || isWhole) return [];
  const whole = message([[cut(text, MAX_SHOWN_INSTRUCTION)]]);
  return [{ key: `${id}.instruction`, place, kind: 'state', message: whole }];
}

const wasNeverFollowed = ({ ended }: ThreadRun) =>
  ended !== undefined && ['refused', 'tooManyThreads', 'unknownJob', 'noPlace', 'taken'].includes(ended.why);

function cardPlace({ inDirectMessage, owner, asked }: ThreadRun): OutboxMessage['place'] {
  if (inDirectMessage) return { user: owner.id };
  if (asked.rootTs === undefined) return { channel: asked.channel };
  return { channel: asked.channel, threadTs: asked.rootTs };
}

function cardMessage(thread: ThreadRun): Message {
  const { icon, label } = stateOf(thread);
  const hasEnded = thread.state === 'ended';
  const below = hasEnded
    ? [`${endedState(thread).text}${unsentText(thread.ended?.unsent ?? 0)}`]
    : [modeLine(thread), heldLine(thread), pollLine(thread)];
  return layout({
    icon,
    lines: [[{ bold: label }, ` · ${jobName(thread)}`], ...below],
    small: [smallPrint(thread)],
    buttons: cardButtons(thread),
    ...(!hasEnded && { menu: cardMenu(thread) }),
  });
}

/** The full job id, so that people can copy it. */
function smallPrint(thread: ThreadRun): Part[] {
  const { agentJobId, owner, seen } = thread;
  const model = sanitizeUserText(seen?.model ?? '', 60);
  const pullRequest = pullRequestName(seen?.prLink);
  const facts = [
    thread.title && thread.seen && sourceName(thread),
    `followed by ${personName(owner.name)}`,
    waitingText(thread),
    model && `model ${model}`,
    pullRequest && `pull request ${pullRequest}`,
  ];
  const id = cut(singleLine(agentJobId ?? ''), 200);
  const job: Part[] = id === '' ? [] : [' · job ', { code: id }];
  return ['docs agent', ...job, ...facts.filter(Boolean).map((fact) => ` · ${fact}`)];
}

/** How authors decide about held replies if the ephemeral with the question is lost. */
function heldLine({ instructions }: ThreadRun): string {
  const held = instructions.filter(({ state }) => state === 'held').length;
  if (held === 0) return '';
  if (held === 1) return '1 reply held (⏸). Its author decides: edit it to add @Docket, or delete it.';
  return `${formatCount(held)} replies held (⏸). Their authors decide: edit them to add @Docket, or delete them.`;
}

function modeLine(thread: ThreadRun): string {
  if (thread.notFound) return 'The platform does not know this job (404). Check its ID.';
  if (!acceptsInstructions(thread)) return 'It takes no more instructions.';
  const aside = 'Start with "aside" to talk among yourselves.';
  if (thread.mode === 'all') return `Every reply here goes to the agent. ${aside}`;
  if (thread.mode === 'mention') return 'Mention @Docket to instruct the agent.';
  return thread.hasOtherAuthors
    ? "Mention @Docket to instruct the agent. I'll ask before sending other replies."
    : `Reply here to instruct the agent. ${aside}`;
}

function pollLine(thread: ThreadRun): string {
  const failure = shownPollFailure(thread);
  return failure ? POLL_LINES[failure](thread) : '';
}

const POLL_LINES: Record<NonNullable<ReturnType<typeof shownPollFailure>>, (thread: ThreadRun) => string> = {
  down: () => "⚠️ I can't reach the platform. I'll keep trying; the job itself may be fine.",
  limit: () => "The platform's limit is reached, so this may be out of date. I'll check again later.",
  key: () =>
    `⚠️ My platform key was rejected; ${keyRemedyText(undefined)}. I'll continue when it works again.`,
  forbidden: () => "⚠️ The platform won't show me this job. I'll keep trying.",
  project: (thread) => `⚠️ ${projectMissingText(thread)}. I'll continue when it is back.`,
};

function cardButtons(thread: ThreadRun): (ButtonParts | false)[] {
  const open = pullRequestButton(thread.seen?.prLink);
  const isStopped = thread.agentJobId !== undefined && thread.ended?.why === 'stopped';
  if (thread.state === 'ended')
    return [...open, isStopped && threadButtonOf(thread, 'Follow again', agentActions.followAgain)];
  const dropped = droppedText(thread.instructions.filter(isPending).length);
  return [...open, !acceptsInstructions(thread) && checkButton(thread), stopButton(thread, dropped)];
}

const droppedText = (many: number): string =>
  many === 0 ? '' : `${countOf(many, 'waiting instruction')} ${many === 1 ? 'is' : 'are'} dropped.`;

/** Switches which replies count; the thread's present mode is left out. */
function cardMenu(thread: ThreadRun): MenuParts | undefined {
  if (!acceptsInstructions(thread)) return undefined;
  const { mode } = thread;
  const entries = [
    ...(mode === 'mention' ? [] : [{ label: 'Listen only to @Docket', action: agentActions.onlyMentioned }]),
    ...(mode === 'all' ? [] : [{ label: 'Listen to all replies', action: agentActions.allReplies }]),
  ];
  return { entries, value: threadButtonOf(thread, '', '').value ?? '' };
}

/** Returns the address of the card; undefined before it is posted. */
export const threadPermalink = ({ place }: ThreadRun, workspaceUrl: string): string | undefined =>
  place && messageUrl(workspaceUrl, { channel: place.channel, ts: place.rootTs });

/** Returns a thread's line in a list that only `readerId` sees. `cardUrl` is for people who can open it. */
export function threadLine(thread: ThreadRun, cardUrl: string | undefined, readerId?: string): Part[] {
  const waiting = waitingText(thread);
  return [
    ...stateParts(stateOf(thread)),
    ` · ${jobName(thread)}${waiting && ` · ${waiting}`} · followed by ${nameTo(readerId, thread.owner)}`,
    ...openThreadLink(cardUrl),
  ];
}

const needsAnswer: StateWord = { icon: '⚠️', label: 'Needs an answer' };
const working: StateWord = { icon: '⏳', label: 'Working' };
const unchecked: StateWord = { icon: '⚠️', label: "Can't check" };

/** Returns the state of a thread's job. */
export function stateOf(thread: ThreadRun): StateWord {
  const { agentJobId, notFound: gone, rounds, seen, state } = thread;
  const pollFailure = shownPollFailure(thread);
  if (state === 'ended') return endedState(thread);
  if (agentJobId === undefined) return startState(thread);
  if (gone) return { icon: '❌', label: 'Not found' };
  if (seen?.status === 'archived') return { icon: '📁', label: 'Archived' };
  if (unresolvedSendOf(thread)?.state === 'unknown') return needsAnswer;
  if (pollFailure === 'key') return { icon: '⚠️', label: 'Key rejected' };
  if (rounds.some(({ ending }) => ending === undefined)) return working;
  // A limit is not a failure: the job is polled again soon.
  const canPoll = pollFailure === undefined || pollFailure === 'limit';
  switch (seen?.status) {
    case undefined:
      return canPoll ? { icon: '🕒', label: 'Checking…' } : unchecked;
    case 'active':
      return working;
    case 'completed':
      return canPoll ? { icon: '✅', label: 'Ready' } : unchecked;
    case 'failed':
      return { icon: '❌', label: 'Failed' };
    case 'unknown':
      return unknownState(sanitizeUserText(seen?.rawStatus ?? '', 40));
  }
}

const unknownState = (word: string): StateWord =>
  word === '' ? { icon: '🕒', label: 'In an unknown state' } : { icon: '🕒', label: word, isForeign: true };

function endedState({ ended, instructions }: ThreadRun): StateWord & { text: string } {
  const { why, by, ref } = ended ?? {};
  if (why === 'broken')
    return { icon: '❌', label: 'Stopped by an error', text: `Something broke on my side.${refText(ref)}` };
  if (why !== 'notMade' && why !== 'jobRefused') {
    const text = by === undefined ? 'Stopped.' : `Stopped by ${personName(by.name)}.`;
    return { icon: '💤', label: 'Stopped following', text };
  }
  const isUnclear = instructions.some(({ creates, state }) => creates && state === 'left');
  return isUnclear
    ? { icon: '💤', label: 'Left unclear', text: 'The job may or may not have been created.' }
    : { icon: '❌', label: 'Not created', text: 'The job was not created.' };
}

function startState(thread: ThreadRun): StateWord {
  if (unresolvedSendOf(thread)?.state === 'unknown') return needsAnswer;
  const hasFailed = thread.instructions.some(({ state }) => state === 'failed');
  return hasFailed ? { icon: '❌', label: 'Not started' } : { icon: '🕒', label: 'Starting…' };
}

/** The lines under digests about the instructions that people gave there, once the thread has its card. */
function digestLines(thread: ThreadRun, workspaceUrl: string | undefined): OutboxMessage[] {
  if (thread.place === undefined && thread.state !== 'ended') return [];
  return thread.instructions.flatMap((one): OutboxMessage[] => {
    const { id, origin } = one;
    if (origin === undefined || origin.final) return [];
    return [
      {
        key: `${thread.id}.ask.${id}`,
        place: { under: origin.under },
        kind: 'state',
        ...(!isAskSettled(thread, one) && { lasting: true }),
        message: askLine(thread, one, origin, workspaceUrl),
      },
    ];
  });
}

/** A digest mentions nobody. */
function askLine(
  thread: ThreadRun,
  one: Instruction,
  origin: DigestOrigin,
  workspaceUrl: string | undefined,
) {
  const url = mayLink(thread, origin) && workspaceUrl ? threadPermalink(thread, workspaceUrl) : undefined;
  return layout({
    ...lineOf(askEnding(thread, one), origin.about),
    small: [`Asked by ${personName(one.by.name)}`],
    buttons: openThreadButton(agentActions.openThread, url),
  });
}

/** Whether all readers of the digest may open the thread. */
const mayLink = ({ place, inDirectMessage, asked }: ThreadRun, { channel }: DigestOrigin) =>
  !inDirectMessage && (place?.channel === channel || asked.isPublic);

function lineOf(ending: AskEnding | undefined, about: string): Pick<Layout, 'icon' | 'lines'> {
  const line = (icon: string, ...parts: Part[]) => ({ icon, lines: [parts] });
  switch (ending?.kind) {
    case undefined:
      return line('⏳', `The docs agent was asked about ${about}.`);
    case 'newPr':
      return line(
        '✅',
        'The agent opened ',
        pullRequestPart(ending.prLink, 'a pull request'),
        ` for ${about}.`,
      );
    case 'samePr':
      return line(
        '✅',
        `The agent finished ${about} in the same pull request as before, `,
        pullRequestPart(ending.prLink, 'without an address'),
        '.',
      );
    case 'noPr':
      return line('➖', `The agent finished ${about} without a pull request.`);
    case 'failed':
      return line('❌', `The agent could not finish ${about}.`);
    case 'archived':
      return line('📁', `The job about ${about} was archived.`);
    case 'gone':
      return line('❌', `The platform no longer has the job about ${about}.`);
    case 'notSent':
      return line('❌', `The instruction about ${about} was not sent.`);
    case 'unknown':
      return line('⚠️', `The instruction about ${about} may not have reached the agent.`);
    case 'stopped':
      return line('💤', `The job about ${about} is no longer followed, so I don't know its result.`);
    case 'gaveUp': {
      const after = ending.afterMs === undefined ? '' : ` after ${formatDuration(ending.afterMs)}`;
      return line('💤', `I stopped watching ${about}${after}; the agent may still finish.`);
    }
  }
}
