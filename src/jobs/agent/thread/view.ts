import {
  type ButtonParts,
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
  messageUrl,
  sanitizeUserText,
  singleLine,
  visibleText,
} from '../../../slack/text.ts';
import {
  FAILURE_SHOWN_AFTER,
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
  afterText,
  jobName,
  previewButton,
  pullRequestButton,
  refText,
  sourceName,
  unsentText,
  waitingCount,
  waitingText,
} from './phrases.ts';
import { acceptsInstructions, isHeldReply, isRetracted, type ThreadRun, unresolvedSendOf } from './record.ts';
import { type AskEnding, askEnding, isAskFinal } from './transitions.ts';

/** Maximum length of an instruction in a message, with room for the text around it. */
const MAX_SHOWN_INSTRUCTION = 12_000;

/** Returns the key of the card. The card in direct messages is a different message from the channel's. */
export const cardKey = ({ id, inDirectMessage }: ThreadRun) => `${id}.card${inDirectMessage ? '.dm' : ''}`;

/** Returns every message of a thread, except ephemerals. Without `workspaceUrl` lines under digests have no link. */
export const threadMessages = (thread: ThreadRun, workspaceUrl?: string): OutboxMessage[] => [
  ...ownMessages(thread),
  ...digestLines(thread, workspaceUrl),
];

/** Endings before a card was posted. */
const NEVER_FOLLOWED = ['refused', 'tooManyThreads', 'unknownJob', 'noPlace', 'taken'];

function ownMessages(thread: ThreadRun): OutboxMessage[] {
  const { asked, ended, inDirectMessage, owner, state } = thread;
  if (state === 'accepted' || NEVER_FOLLOWED.includes(ended?.why ?? '')) return [];
  const inThread = asked.rootTs !== undefined && { threadTs: asked.rootTs };
  const card: OutboxMessage = {
    key: cardKey(thread),
    place: inDirectMessage ? { user: owner.id } : { channel: asked.channel, ...inThread },
    kind: 'state',
    message: cardMessage(thread),
    ...(state === 'following' && { lasting: true }),
    ...(ended?.why === 'stopped' && { interactive: true }),
  };
  if (thread.place === undefined) return [card];
  const place = { channel: thread.place.channel, threadTs: thread.place.rootTs };
  if (!isRetracted(thread))
    return [card, ...instructionMessages(thread, place), ...workMessages(thread, place)];
  const posted = [card, ...instructionMessages({ ...thread, sends: 0 }, place)];
  return posted.map((message) => ({ ...message, retracted: true }));
}

/**
 * The full instruction of a command or modal; the card has only its beginning, and Slack no other copy. It is published
 * before the first call: later, its record may have expired, and it would be posted a second time.
 */
function instructionMessages(
  { id, title, instructions, sends }: ThreadRun,
  place: OutboxMessage['place'],
): OutboxMessage[] {
  const { isReply = true, text: written = '' } = instructions.find(({ creates }) => creates) ?? {};
  const text = visibleText(written);
  const isWhole = !title?.endsWith('…') && !text.includes('\n');
  if (sends > 0 || isReply || text === '' || isWhole) return [];
  const whole = message([[cut(text, MAX_SHOWN_INSTRUCTION)]]);
  return [{ key: `${id}.instruction`, place, kind: 'state', message: whole }];
}

function cardMessage(thread: ThreadRun): Message {
  const { icon, label } = stateOf(thread);
  const { ended } = thread;
  const below = ended
    ? [`${endedState(thread).text}${unsentText(ended.unsent)}`]
    : [modeLine(thread), heldLine(thread), pollLine(thread)];
  return layout({
    icon,
    lines: [[{ bold: label }, ` · ${jobName(thread)}`], ...below],
    small: [smallPrint(thread)],
    buttons: cardButtons(thread),
    menu: ended || !acceptsInstructions(thread) ? undefined : cardMenu(thread),
  });
}

/** The full job id, so that people can copy it. */
function smallPrint(thread: ThreadRun): Part[] {
  const { agentJobId, owner, seen } = thread;
  const model = sanitizeUserText(seen?.model ?? '', 60);
  const pullRequest = pullRequestName(seen?.prLink);
  const facts = [
    thread.title && seen && sourceName(thread),
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
  const asked = instructions.find((one) => one.state === 'held' && !isHeldReply(one));
  if (asked)
    return `I asked ${personName(asked.by.name)} whether the conversation goes along. My Home tab has the question, too.`;
  const held = instructions.filter(isHeldReply).length;
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
  const lines = {
    down: "⚠️ I can't reach the platform. I'll keep trying; the job itself may be fine.",
    limit: "The platform's limit is reached, so this may be out of date. I'll check again later.",
    key: `⚠️ My platform key was rejected; ${keyRemedyText(undefined)}. I'll continue when it works again.`,
    forbidden: "⚠️ The platform won't show me this job. I'll keep trying.",
    project: `⚠️ ${projectMissingText(thread)}. I'll continue when it is back.`,
  };
  return failure ? lines[failure] : '';
}

/** Returns why the job cannot be polled at present, if messages say so. */
function shownPollFailure({ pollFailure: failure }: ThreadRun) {
  if (failure === undefined || failure.kind === 'lost') return undefined;
  return failure.kind === 'down' && failure.inARow < FAILURE_SHOWN_AFTER ? undefined : failure.kind;
}

function cardButtons(thread: ThreadRun): (ButtonParts | false)[] {
  const { agentJobId, ended, instructions, seen } = thread;
  const open = pullRequestButton(seen?.prLink);
  const isStopped = agentJobId !== undefined && ended?.why === 'stopped';
  if (ended) return [...open, isStopped && threadButtonOf(thread, 'Follow again', agentActions.followAgain)];
  const lost = waitingCount(thread) + instructions.filter(({ state }) => state === 'held').length;
  const dropped = `${countOf(lost, 'waiting instruction')} ${lost === 1 ? 'is' : 'are'} dropped.`;
  const stop = stopButton(thread, lost === 0 ? '' : dropped);
  return [...open, acceptsInstructions(thread) ? previewButton(thread) : checkButton(thread), stop];
}

/** Switches which replies count; the thread's present mode is left out. */
function cardMenu(thread: ThreadRun): MenuParts {
  const entries = [
    { mode: 'mention', label: 'Listen only to @Docket', action: agentActions.onlyMentioned },
    { mode: 'all', label: 'Listen to all replies', action: agentActions.allReplies },
  ].filter(({ mode }) => mode !== thread.mode);
  return { entries, value: threadButtonOf(thread, '', '').value ?? '' };
}

/** Returns the address of the card; undefined before it is posted, or while the workspace's address is unknown. */
export const threadPermalink = ({ place }: ThreadRun, workspaceUrl: string | undefined) =>
  place && workspaceUrl ? messageUrl(workspaceUrl, { channel: place.channel, ts: place.rootTs }) : undefined;

/** Returns a thread's line in a list that only `readerId` sees. `cardUrl` is for people who can open it. */
export function threadLine(thread: ThreadRun, cardUrl: string | undefined, readerId?: string): Part[] {
  const waiting = waitingText(thread);
  return [
    ...stateParts(stateOf(thread)),
    ` · ${jobName(thread)}${waiting && ` · ${waiting}`} · followed by ${nameTo(readerId, thread.owner)}`,
    ...openThreadLink(cardUrl),
  ];
}

/** Returns the state of a thread's job. */
export function stateOf(thread: ThreadRun): StateWord {
  const { agentJobId, instructions, notFound, rounds, seen, state } = thread;
  if (state === 'ended') return endedState(thread);
  if (notFound) return { icon: '❌', label: 'Not found' };
  if (seen?.status === 'archived') return { icon: '📁', label: 'Archived' };
  const isAsked = instructions.some((one) => one.creates && one.state === 'held');
  if (isAsked || unresolvedSendOf(thread)?.state === 'unknown')
    return { icon: '⚠️', label: 'Needs an answer' };
  if (agentJobId === undefined)
    return instructions.some((one) => one.state === 'failed')
      ? { icon: '❌', label: 'Not started' }
      : { icon: '🕒', label: 'Starting…' };
  const failure = shownPollFailure(thread);
  if (failure === 'key') return { icon: '⚠️', label: 'Key rejected' };
  if (seen?.status === 'active' || rounds.some(({ ending }) => ending === undefined))
    return { icon: '⏳', label: 'Working' };
  if (seen?.status === 'failed') return { icon: '❌', label: 'Failed' };
  if (seen?.status === 'unknown')
    return { icon: '🕒', label: sanitizeUserText(seen.rawStatus, 40) || 'In an unknown state' };
  // A limit is not a failure: the job is polled again soon.
  if (failure !== undefined && failure !== 'limit') return { icon: '⚠️', label: "Can't check" };
  return seen === undefined ? { icon: '🕒', label: 'Checking…' } : { icon: '✅', label: 'Ready' };
}

function endedState({ ended, instructions }: ThreadRun): StateWord & { text: string } {
  const { why, by, ref } = ended ?? {};
  if (why === 'broken')
    return { icon: '❌', label: 'Stopped by an error', text: `Something broke on my side.${refText(ref)}` };
  if (why !== 'notMade' && why !== 'jobRefused') {
    const text = by === undefined ? 'Stopped.' : `Stopped by ${personName(by.name)}.`;
    return { icon: '💤', label: 'Stopped following', text };
  }
  return instructions.some(({ creates, state }) => creates && state === 'left')
    ? { icon: '💤', label: 'Left unclear', text: 'The job may or may not have been created.' }
    : { icon: '❌', label: 'Not created', text: 'The job was not created.' };
}

/** The lines under digests about the instructions that people gave there, once the thread has its card. */
function digestLines(thread: ThreadRun, workspaceUrl: string | undefined): OutboxMessage[] {
  const { asked, inDirectMessage, place } = thread;
  if (place === undefined && thread.state !== 'ended') return [];
  return thread.instructions.flatMap((one): OutboxMessage[] => {
    const { id, by, origin } = one;
    if (origin === undefined || origin.final) return [];
    const ending = askEnding(thread, one);
    const [icon, ...line] = ASK_LINES[ending?.kind ?? 'open'](origin.about, ending ?? {});
    // Only if all readers of the digest may open the thread.
    const mayLink = !inDirectMessage && (place?.channel === origin.channel || asked.isPublic);
    const url = mayLink ? threadPermalink(thread, workspaceUrl) : undefined;
    return [
      {
        key: `${thread.id}.ask.${id}`,
        place: { under: origin.under },
        kind: 'state',
        ...(!isAskFinal(thread, one) && { lasting: true }),
        // A digest mentions nobody.
        message: layout({
          icon,
          lines: [line],
          small: [`Asked by ${personName(by.name)}`],
          buttons: openThreadButton(agentActions.openThread, url),
        }),
      },
    ];
  });
}

type AskLine = (about: string, ending: Partial<AskEnding>) => [icon: string, ...Part[]];

/** The icon and the line about the result of an instruction, whose subject is `about`. */
const ASK_LINES: Record<AskEnding['kind'] | 'open', AskLine> = {
  open: (about) => ['⏳', `The docs agent was asked about ${about}.`],
  newPr: (about, { prLink }) => {
    const name = pullRequestPart(prLink, 'a pull request');
    return ['✅', 'The agent opened ', name, ` for ${about}.`];
  },
  samePr: (about, { prLink }) => {
    const name = pullRequestPart(prLink, 'without an address');
    return ['✅', `The agent finished ${about} in the same pull request as before, `, name, '.'];
  },
  noPr: (about) => ['➖', `The agent finished ${about} without a pull request.`],
  failed: (about) => ['❌', `The agent could not finish ${about}.`],
  archived: (about) => ['📁', `The job about ${about} was archived.`],
  gone: (about) => ['❌', `The platform no longer has the job about ${about}.`],
  notSent: (about) => ['❌', `The instruction about ${about} was not sent.`],
  unknown: (about) => ['⚠️', `The instruction about ${about} may not have reached the agent.`],
  stopped: (about) => ['💤', `The job about ${about} is no longer followed, so I don't know its result.`],
  gaveUp: (about, { afterMs }) => [
    '💤',
    `I stopped watching ${about}${afterText(afterMs)}; the agent may still finish.`,
  ],
};
