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
import { cut, formatCount, messageUrl, sanitizeUserText, visibleText } from '../../../slack/text.ts';
import { pullRequestStateParts } from '../../pull-request/state-view.ts';
import {
  FAILURE_SHOWN_AFTER,
  keyRejectedText,
  nameTo,
  personName,
  projectMissingText,
  pullRequestPart,
  type StateWord,
  stateParts,
} from '../../shared/wording-view.ts';
import { agentActions, checkButton, threadButtonOf } from './buttons.ts';
import type { AskEnding } from './instructions.ts';
import { askEnding, isAskFinal } from './instructions.ts';
import { ENDED, workMessages } from './messages-view.ts';
import {
  afterText,
  jobName,
  pullRequestButton,
  quoted,
  refText,
  sendWithLabel,
  unsentText,
  waitingText,
} from './phrases.ts';
import { previewButton, previewText } from './previews.ts';
import { acceptsInstructions, isHeldReply, isRetracted, type ThreadRun, unresolvedSendOf } from './record.ts';

/** Maximum length of a request in a message, with room for the text around it. */
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
    ...(state === 'following' && { permanent: true }),
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
 * The full request of a command or form, if its excerpt is not all of it: Slack has no other copy. It is published before
 * the first call: later, its record may have expired, and it would be posted a second time.
 */
function instructionMessages({ id, instructions, sends }: ThreadRun, place: OutboxMessage['place']) {
  const { isReply = true, text: written = '', excerpt } = instructions.find(({ creates }) => creates) ?? {};
  const text = visibleText(written);
  const isWhole = !excerpt?.endsWith('…') && !text.includes('\n');
  if (sends > 0 || isReply || text === '' || isWhole) return [];
  const whole = message([[cut(text, MAX_SHOWN_INSTRUCTION)]]);
  return [{ key: `${id}.instruction`, place, kind: 'state' as const, message: whole }];
}

/** The card: the state and the title, who and how to ask, and the buttons; between them only what needs attention. */
function cardMessage(thread: ThreadRun): Message {
  const { ended, notFound, owner, rounds, seen, title } = thread;
  const { icon, label } = stateOf(thread);
  const attention = ended
    ? [`${endedState(thread).text}${unsentText(ended.unsent)}`]
    : [
        notFound && "The platform doesn't know this job. Check its ID.",
        heldLine(thread),
        pollLine(thread),
        previewText(thread),
      ];
  const facts = [
    `${title === undefined ? 'Followed' : 'Requested'} by ${personName(owner.name)}`,
    waitingText(thread),
    // What failed or is asked comes first.
    !ended && !['❌', '⚠️', '❔'].includes(icon) && howToAsk(thread),
    ended && refText(ended.ref),
  ];
  return layout({
    icon,
    lines: [
      [
        { bold: label },
        ` · ${jobName(thread)}`,
        ...(seen?.prLink === undefined ? [] : [' · ', pullRequestPart(seen.prLink, 'pull request')]),
        ...pullRequestStateParts(
          rounds.findLast(({ ending }) => ending?.prLink === seen?.prLink)?.pullRequest,
        ),
      ],
      ...attention,
    ],
    small: [facts.filter(Boolean).join(' · ')],
    buttons: cardButtons(thread),
    menu: ended ? undefined : cardMenu(thread),
  });
}

/** How authors decide about held replies if the ephemeral with the question is lost. */
function heldLine({ instructions }: ThreadRun): string {
  const asked = instructions.find((one) => one.state === 'held' && !isHeldReply(one));
  const name = personName(asked?.by.name ?? '');
  if (asked?.question?.isOpenToAll)
    return `${name} hasn't answered for a day: send the earlier messages with ${quoted(asked.excerpt)}, too? Anyone who may ask the agent here can decide.`;
  if (asked) return `Waiting for ${name}: send the earlier messages, too? (Also on my Home tab.)`;
  const held = instructions.filter(isHeldReply).length;
  if (held === 0) return '';
  if (held === 1) return '1 reply is held. Its author can add @Docket to send it, or delete it.';
  return `${formatCount(held)} replies are held. Their authors can add @Docket to send them, or delete them.`;
}

function howToAsk(thread: ThreadRun): string {
  if (!acceptsInstructions(thread)) return 'it takes no more requests';
  const aside = 'start with "aside" to talk among yourselves';
  if (thread.mode === 'all') return `every reply in the thread goes to the agent; ${aside}`;
  if (thread.mode === 'mention') return 'mention @Docket in the thread to ask the agent';
  return thread.othersAtMs !== undefined
    ? 'mention @Docket in the thread to ask the agent; I ask you before I send other replies'
    : `reply in the thread to ask the agent; ${aside}`;
}

function pollLine(thread: ThreadRun): string {
  const failure = shownPollFailure(thread);
  const lines = {
    down: "I can't reach the platform. I'll keep trying; the job itself may be fine.",
    limit: "The platform's limit is reached, so this may be out of date. I'll check again later.",
    key: `${keyRejectedText(undefined)}. I'll continue when it works again.`,
    forbidden: "The platform won't show me this job. I'll keep trying.",
    project: `${projectMissingText(thread)}. I'll continue when it's back.`,
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
  const button = (label: string, action: string, about: string[] = []) =>
    threadButtonOf(thread, label, action, about);
  const open = pullRequestButton(seen?.prLink);
  const isStopped = agentJobId !== undefined && ended?.why === 'stopped';
  if (ended)
    return [
      ...open,
      isStopped && button('Follow again', agentActions.followAgain),
      button('Details', agentActions.details),
    ];
  const asked = instructions.find((one) => one.state === 'held' && one.question?.isOpenToAll);
  if (asked?.background) {
    const { id, background, question } = asked;
    // Others may not send messages that they may not have seen.
    const withThem = button(sendWithLabel(background), agentActions.sendWithBackground, [id]);
    const alone = button('Send only the request', agentActions.sendOnlyTheirs, [id]);
    return [question?.isHere === true && withThem, alone, button('Discard', agentActions.discard, [id])];
  }
  const isWatched = acceptsInstructions(thread) && !isUnwatched(thread);
  return [...open, isWatched ? previewButton(thread) : checkButton(thread)];
}

/** The rare actions. The thread's present mode is left out. */
function cardMenu(thread: ThreadRun): MenuParts {
  const modes = [
    { mode: 'mention', label: 'Listen only to @Docket', action: agentActions.onlyMentioned },
    { mode: 'all', label: 'Listen to all replies', action: agentActions.allReplies },
  ].filter(({ mode }) => mode !== thread.mode && acceptsInstructions(thread));
  const entries = [
    { label: 'Details', action: agentActions.details },
    ...modes.map(({ label, action }) => ({ label, action })),
    { label: 'Stop following', action: agentActions.askStop },
  ];
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

/** Whether the job waits for a next request, and nobody has to act. */
export const isReady = (thread: ThreadRun) => stateOf(thread).label === READY && waitingText(thread) === '';

const READY = 'Ready';
const NEEDS_ANSWER: StateWord = { icon: '❔', label: 'Needs an answer' };

/** Whether the agent worked for too long: the job is polled again once somebody checks it or sends something. */
const isUnwatched = ({ pollRequested, rounds }: ThreadRun) =>
  !pollRequested && rounds.at(-1)?.ending?.kind === 'gaveUp';

/** Returns the state of a thread's job. */
export function stateOf(thread: ThreadRun): StateWord {
  const { agentJobId, instructions, notFound, rounds, seen, state } = thread;
  if (state === 'ended') return endedState(thread);
  if (notFound) return { icon: '❌', label: 'Not found' };
  if (seen?.status === 'archived') return { icon: '📁', label: 'Archived' };
  const isAsked = instructions.some((one) => one.creates && one.state === 'held');
  if (isAsked || unresolvedSendOf(thread)?.state === 'unknown') return NEEDS_ANSWER;
  if (agentJobId === undefined)
    return instructions.some((one) => one.state === 'failed')
      ? { icon: '❌', label: 'Not started' }
      : { icon: '🕒', label: 'Starting…' };
  const failure = shownPollFailure(thread);
  if (failure === 'key') return { icon: '⚠️', label: 'Access rejected' };
  if (isUnwatched(thread)) return { icon: '⌛', label: 'No longer watched' };
  if (seen?.status === 'active' || rounds.some(({ ending }) => ending === undefined))
    return { icon: '⏳', label: 'Working' };
  if (seen?.status === 'failed') return { icon: '❌', label: 'Failed' };
  if (seen?.status === 'unknown')
    return { icon: '🕒', label: sanitizeUserText(seen.rawStatus, 40) || 'In an unknown state' };
  // A limit is not a failure: the job is polled again soon.
  if (failure !== undefined && failure !== 'limit') return { icon: '⚠️', label: "Can't check" };
  if (seen === undefined) return { icon: '🕒', label: 'Checking…' };
  const waitsForAnswer = instructions.some((one) => one.state === 'held' && !isHeldReply(one));
  return waitsForAnswer ? NEEDS_ANSWER : { icon: '✅', label: READY };
}

function endedState({ ended, instructions }: ThreadRun): StateWord & { text: string } {
  const { why, by } = ended ?? {};
  if (why === 'broken')
    return { icon: '❌', label: 'Stopped by an error', text: 'Something broke on my side.' };
  if (why !== 'notMade' && why !== 'jobRefused') {
    const text = by === undefined ? 'Stopped.' : `Stopped by ${personName(by.name)}.`;
    return { icon: '➖', label: 'Stopped following', text };
  }
  return instructions.some(({ creates, state }) => creates && state === 'left')
    ? { icon: '➖', label: 'Not sent again', text: "It's unclear whether the job was created." }
    : { icon: '❌', label: 'Not created', text: "The job wasn't created." };
}

/** The lines under digests about the requests that people made there, once the thread has its card. */
function digestLines(thread: ThreadRun, workspaceUrl: string | undefined): OutboxMessage[] {
  const { asked, inDirectMessage, place } = thread;
  if (place === undefined && thread.state !== 'ended') return [];
  return thread.instructions.flatMap((one): OutboxMessage[] => {
    const { id, by, origin } = one;
    if (origin === undefined || origin.final) return [];
    const ending = askEnding(thread, one);
    const { kind = 'open', prLink, afterMs } = ending ?? {};
    const { icon, label } = ASK_WORDS[kind];
    const isPr = kind === 'newPr' || kind === 'samePr';
    const link: Part[] = isPr ? [' · ', pullRequestPart(prLink, 'the platform sent no link')] : [];
    const more = kind === 'gaveUp' ? ` · I stopped${afterText(afterMs)}; the agent may still finish` : '';
    // Only if all readers of the digest may open the thread.
    const mayLink = !inDirectMessage && (place?.channel === origin.channel || asked.isPublic);
    const url = mayLink ? threadPermalink(thread, workspaceUrl) : undefined;
    return [
      {
        key: `${thread.id}.ask.${id}`,
        place: { under: origin.under },
        kind: 'state',
        ...(!isAskFinal(thread, one) && { permanent: true }),
        // A digest mentions nobody.
        message: layout({
          icon,
          lines: [[{ bold: label }, ...link, ` · ${origin.about}${more}`]],
          small: [`Requested by ${personName(by.name)}`],
          buttons: openThreadButton(agentActions.openThread, url),
        }),
      },
    ];
  });
}

/** The words for the result of a request under a digest. */
const ASK_WORDS: Record<AskEnding['kind'] | 'open', StateWord> = {
  ...ENDED,
  open: { icon: '⏳', label: 'Asked the agent' },
  notSent: { icon: '❌', label: 'Request not sent' },
  unknown: { icon: '❔', label: "It's unclear whether the agent got this" },
  stopped: { icon: '➖', label: 'No longer followed' },
};
