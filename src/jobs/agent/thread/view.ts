import { type ButtonParts, type Message, message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { cut, formatCount, oneLine } from '../../../slack/text.ts';
import { keyRemedyText, personName } from '../../wording-view.ts';
import { agentActions } from './buttons.ts';
import { limitMessages } from './limit-view.ts';
import { stateLabel } from './list-view.ts';
import {
  brokenText,
  checkButton,
  jobName,
  mentionParts,
  projectMissingText,
  pullRequestButton,
  pullRequestName,
  refText,
  threadButtonOf,
  unsentText,
  waitingText,
} from './phrases.ts';
import type { ThreadRun } from './record.ts';
import { roundMessages } from './round-view.ts';
import { troubleMessages } from './trouble-view.ts';

/** The key of the card; the one in direct messages is another message than the one where it was asked. */
export const cardKey = (thread: Pick<ThreadRun, 'id' | 'inDirectMessage'>) =>
  `${thread.id}.card${thread.inDirectMessage ? '.dm' : ''}`;

/** Every message of a thread as it should look now, but for private notes. Earlier ones stay as they were. */
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

const wasNeverFollowed = ({ state, ended }: ThreadRun) =>
  state === 'ended' && ended !== undefined && ['refused', 'noPlace', 'taken'].includes(ended.why);

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

/** Which model and pull request it is, and what waits for its turn. */
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

/** What its author alone can let go, and how without the private question, which may be lost. */
function heldLine({ instructions }: ThreadRun): string {
  const held = instructions.filter(({ state }) => state === 'held').length;
  if (held === 0) return '';
  if (held === 1) return '1 reply held (⏸). Its author decides: edit it to add @Docket, or delete it.';
  return `${formatCount(held)} replies held (⏸). Their authors decide: edit them to add @Docket, or delete them.`;
}

/** Whether an instruction can still reach the job, as far as it is known. */
const takesInstructions = ({ gone, seen }: ThreadRun) => !gone && seen?.status !== 'archived';

/** How to instruct the agent here. */
function modeLine(thread: ThreadRun): string {
  if (thread.gone) return 'The platform does not know this job (404). Check its id.';
  if (!takesInstructions(thread)) return 'It takes no more instructions.';
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

function pollLine(thread: ThreadRun): string {
  switch (thread.lookTrouble) {
    case undefined:
      return '';
    case 'down':
      return "⚠️ I can't reach the platform and keep trying; the job itself may be fine.";
    case 'limit':
      return "The platform's limit is reached, so this may be out of date. I look again later.";
    case 'key':
      return `⚠️ My platform key was rejected; ${keyRemedyText(undefined)}. I go on when it works again.`;
    case 'forbidden':
      return '⚠️ The platform refuses to tell how this job is. I keep asking.';
    case 'project':
      return `⚠️ ${projectMissingText(thread)}. I go on when it is back.`;
  }
}

function cardButtons(thread: ThreadRun): ButtonParts[] {
  const mode =
    thread.mode === 'mention'
      ? threadButtonOf(thread, 'All replies', agentActions.allReplies)
      : threadButtonOf(thread, 'Only when mentioned', agentActions.onlyMentioned);
  return [
    ...pullRequestButton('Open pull request', thread.seen?.prLink),
    takesInstructions(thread) ? mode : checkButton(thread),
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

/** A card that is edited tells nobody: whoever followed the job has to hear of it. */
function brokenMessages(
  { id, state, ended, owner }: ThreadRun,
  place: OutboxMessage['place'],
): OutboxMessage[] {
  if (state !== 'ended' || ended?.why !== 'broken') return [];
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
