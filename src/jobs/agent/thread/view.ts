import { type ButtonParts, type Message, message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage, Reaction } from '../../../slack/outbox.ts';
import { cut, formatCount, messageUrl, oneLine } from '../../../slack/text.ts';
import { pullRequestName } from '../../pull-request-view.ts';
import { keyRemedyText, personName, projectMissingText } from '../../wording-view.ts';
import { agentActions, checkButton, threadButtonOf } from './buttons.ts';
import type { Instruction } from './instruction.ts';
import {
  brokenText,
  jobName,
  mentionParts,
  pullRequestButton,
  refText,
  unsentText,
  waitingText,
} from './phrases.ts';
import { acceptsInstructions, type ThreadRun, unresolvedSendOf } from './record.ts';
import { roundKey, roundMessages } from './round-view.ts';
import { limitMessages, troubleMessages } from './unsent-view.ts';

/** Returns the key of the card. The one in direct messages is another message than the one where it was asked for. */
export const cardKey = ({ id, inDirectMessage }: ThreadRun) => `${id}.card${inDirectMessage ? '.dm' : ''}`;

/** Returns every message of a thread as it is to look now, except for ephemerals. */
export function threadMessages(thread: ThreadRun): OutboxMessage[] {
  if (thread.state === 'accepted' || wasNeverFollowed(thread)) return [];
  const card: OutboxMessage = {
    key: cardKey(thread),
    place: cardPlace(thread),
    kind: 'state',
    message: cardMessage(thread),
    ...(thread.state === 'following' && { lasting: true }),
    ...(thread.ended?.why === 'stopped' && { clicked: true }),
  };
  if (thread.place === undefined) return [card];
  const place = { channel: thread.place.channel, threadTs: thread.place.rootTs };
  return [
    card,
    ...thread.rounds.flatMap((round) => roundMessages(thread, round, place)),
    ...troubleMessages(thread, place),
    ...limitMessages(thread, place),
    ...brokenMessages(thread, place),
  ];
}

const wasNeverFollowed = ({ ended }: ThreadRun) =>
  ended !== undefined && ['refused', 'noPlace', 'taken'].includes(ended.why);

function cardPlace({ inDirectMessage, owner, asked }: ThreadRun): OutboxMessage['place'] {
  if (inDirectMessage) return { user: owner.id };
  if (asked.rootTs === undefined) return { channel: asked.channel };
  return { channel: asked.channel, threadTs: asked.rootTs };
}

function cardMessage(thread: ThreadRun): Message {
  const title: Part[] = [{ bold: `🤖 Docs agent · ${jobName(thread)} · ${stateLabel(thread)}` }];
  if (thread.state === 'ended') return message([title, [endedLine(thread)]]);
  const lines = [factsLine(thread), modeLine(thread), heldLine(thread), pollLine(thread)].filter(
    (line) => line !== '',
  );
  return message([title, ...lines.map((line) => [line])], cardButtons(thread));
}

function factsLine(thread: ThreadRun): string {
  const { seen } = thread;
  const model = cut(oneLine(seen?.model ?? ''), 60);
  const pullRequest = pullRequestName(seen ?? {});
  const facts = [
    model === '' ? '' : `Model ${model}`,
    pullRequest === '' ? '' : `${model === '' ? 'Pull' : 'pull'} request ${pullRequest}`,
    waitingText(thread),
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

/** How authors decide about held replies without the ephemeral that asks them, which may be lost. */
function heldLine({ instructions }: ThreadRun): string {
  const held = instructions.filter(({ state }) => state === 'held').length;
  if (held === 0) return '';
  if (held === 1) return '1 reply held (⏸). Its author decides: edit it to add @Docket, or delete it.';
  return `${formatCount(held)} replies held (⏸). Their authors decide: edit them to add @Docket, or delete them.`;
}

function modeLine(thread: ThreadRun): string {
  if (thread.gone) return 'The platform does not know this job (404). Check its id.';
  if (!acceptsInstructions(thread)) return 'It takes no more instructions.';
  const aside = 'Start with "aside" to talk among yourselves.';
  switch (thread.mode) {
    case 'auto':
      if (thread.crowd) return 'Mention @Docket to instruct the agent; about other replies I ask first.';
      return `Reply here to instruct the agent. ${aside}`;
    case 'all':
      return `Every reply here goes to the agent. ${aside}`;
    case 'mention':
      return 'Mention @Docket to instruct the agent.';
  }
}

const pollLine = (thread: ThreadRun) => (thread.lookTrouble ? POLL_LINES[thread.lookTrouble](thread) : '');

const POLL_LINES: Record<NonNullable<ThreadRun['lookTrouble']>, (thread: ThreadRun) => string> = {
  down: () => "⚠️ I can't reach the platform and keep trying; the job itself may be fine.",
  limit: () => "The platform's limit is reached, so this may be out of date. I look again later.",
  key: () => `⚠️ My platform key was rejected; ${keyRemedyText(undefined)}. I go on when it works again.`,
  forbidden: () => '⚠️ The platform refuses to tell how this job is. I keep asking.',
  project: (thread) => `⚠️ ${projectMissingText(thread)}. I go on when it is back.`,
};

function cardButtons(thread: ThreadRun): ButtonParts[] {
  const mode =
    thread.mode === 'mention'
      ? threadButtonOf(thread, 'All replies', agentActions.allReplies)
      : threadButtonOf(thread, 'Only when mentioned', agentActions.onlyMentioned);
  return [
    ...pullRequestButton('Open pull request', thread.seen?.prLink),
    acceptsInstructions(thread) ? mode : checkButton(thread),
    threadButtonOf(thread, 'Stop following', agentActions.stop),
  ];
}

const endedLine = (thread: ThreadRun) => `${endedText(thread)}${unsentText(thread.ended?.unsent ?? 0)}`;

function endedText({ ended, instructions }: ThreadRun): string {
  // Somebody left it at that without an answer: then nobody knows.
  const isUnclear = instructions.some(({ creates, outcome }) => creates && outcome === 'left');
  if (ended?.why === 'notMade')
    return isUnclear ? 'The job may or may not have been made.' : 'The job was not made.';
  if (ended?.why === 'broken') return brokenText(ended.ref);
  return ended?.by === undefined ? 'Stopped.' : `Stopped by @${personName(ended.by.name)}.`;
}

/** An edit of the card notifies nobody, so an error of ours is a message to whoever followed the job. */
function brokenMessages({ id, ended, owner }: ThreadRun, place: OutboxMessage['place']): OutboxMessage[] {
  if (ended?.why !== 'broken') return [];
  const intro = 'I stopped following this job: something broke on my side.';
  const text = `${intro}${unsentText(ended.unsent)}${refText(ended.ref)}`;
  return [
    {
      key: `${id}.broken`,
      place,
      kind: 'ending',
      message: message([['❌ ', ...mentionParts([owner]), text]]),
      otherwise: owner.id,
    },
  ];
}

/** Returns a few words for where the job of a thread stands. */
export function stateLabel(thread: ThreadRun): string {
  const { agentJobId, ended, gone, rounds, seen, state } = thread;
  if (ended?.why === 'notMade') return 'Not made';
  if (ended?.why === 'broken') return 'Stopped by an error';
  if (state === 'ended') return 'No longer followed';
  if (agentJobId === undefined) return startLabel(thread);
  if (gone) return 'Unknown to the platform';
  if (rounds.some(({ ending }) => ending === undefined) && seen?.status !== 'archived') return 'Working';
  if (seen === undefined) return 'Not looked at yet';
  if (seen.status !== 'unknown') return STATUS_LABELS[seen.status];
  return cut(oneLine(seen.rawStatus), 40) || 'In an unknown state';
}

const STATUS_LABELS = { active: 'Working', failed: 'Failed', archived: 'Archived', completed: 'Idle' };

function startLabel(thread: ThreadRun): string {
  if (unresolvedSendOf(thread)?.state === 'unknown') return 'Start unclear';
  return thread.instructions.some(({ state }) => state === 'failed') ? 'Not started' : 'Starting';
}

/** Returns the address of the card; nothing before it is posted. */
export const threadPermalink = ({ place }: ThreadRun, workspaceUrl: string): string | undefined =>
  place && messageUrl(workspaceUrl, { channel: place.channel, ts: place.rootTs });

/** Returns one line for a list of threads, with a link to the card for those who can open it. */
export function threadLine(thread: ThreadRun, cardUrl: string | undefined): Part[] {
  const waiting = waitingText(thread);
  const cardLink: Part[] = cardUrl === undefined ? [] : [' · ', { link: cardUrl, label: 'Open thread' }];
  return [
    { bold: jobName(thread) },
    ` — ${stateLabel(thread)}${waiting && ` · ${waiting}`} · followed by @${personName(thread.owner.name)}`,
    ...cardLink,
  ];
}

/**
 * Returns the reaction of each reply by its `ts`; `undefined`: none any more. As a rule the message about its round shows
 * that a reply was taken, and the reaction is left out.
 */
export function reactionsOf(thread: ThreadRun): Map<string, Reaction | undefined> {
  const replies = thread.instructions.filter(({ isReply }) => isReply);
  return new Map(replies.map((one) => [one.id, reactionOf(thread, one)]));
}

function reactionOf(thread: ThreadRun, { state, outcome, round }: Instruction): Reaction | undefined {
  if (state === 'held') return { name: 'double_vertical_bar' };
  const isDropped = outcome === 'notForAgent' || outcome === 'discarded' || outcome === 'withdrawn';
  if (state === 'over' && isDropped) return undefined;
  return { name: 'eyes', unlessShown: round === undefined ? '' : roundKey(thread, round) };
}
