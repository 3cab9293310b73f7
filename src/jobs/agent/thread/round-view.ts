import { type ButtonParts, type Message, message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { formatDuration } from '../../../slack/text.ts';
import { pullRequestName } from '../../pull-request-view.ts';
import type { RoundEnding } from '../watch/record.ts';
import { agentActions, threadButtonOf } from './buttons.ts';
import {
  archivedParts,
  instructionCountText,
  mentionParts,
  pullRequestButton,
  quotedBy,
  waitingText,
} from './phrases.ts';
import type { ThreadRound, ThreadRun } from './record.ts';

/** Returns the key of the message about the state of a round. */
export const roundKey = ({ id }: ThreadRun, round: number) => `${id}.round.${round}`;

/** Returns the messages about one round: its state, where this thread instructed in it, and how it ended. */
export function roundMessages(
  thread: ThreadRun,
  round: ThreadRound,
  place: OutboxMessage['place'],
): OutboxMessage[] {
  const messages: OutboxMessage[] = [];
  if (round.count > 0) {
    const isOpen = !round.ending && thread.state !== 'ended';
    messages.push({
      key: roundKey(thread, round.n),
      place,
      // An open round changes with each reply: people see here that theirs was taken.
      kind: 'state',
      ...(isOpen && { repost: false }),
      message: statusMessage(thread, round),
    });
  }
  if (round.ending) {
    messages.push({
      key: `${thread.id}.end.${round.n}`,
      place,
      kind: 'ending',
      message: endingMessage(thread, round, round.ending),
      otherwise: (round.last?.by ?? round.authors[0] ?? thread.owner).id,
    });
  }
  return messages;
}

function statusMessage(thread: ThreadRun, round: ThreadRound): Message {
  const { ending } = round;
  if (ending) return message([[`${sentText(round)} · ${endedText(round, ending)}`]]);
  if (thread.state === 'ended') return message([[`${sentText(round)} · the job is no longer followed here`]]);
  const line: Part[] = [
    `⏳ ${sentText(round)} · the agent is working · started `,
    { time: round.sinceMs, format: '{ago}' },
  ];
  const newest = thread.rounds.every(({ n }) => n <= round.n);
  const waiting = newest ? waitingText(thread) : '';
  return message(waiting === '' ? [line] : [line, [waiting]]);
}

function sentText({ count, last }: ThreadRound): string {
  if (last === undefined) return `Sent ${instructionCountText(count)}`;
  return count === 1
    ? `Sent ${quotedBy(last)}`
    : `Sent ${instructionCountText(count)}, the last ${quotedBy(last)}`;
}

function endedText({ sinceMs }: ThreadRound, { kind, atMs, afterMs }: RoundEnding): string {
  switch (kind) {
    case 'newPr':
    case 'samePr':
    case 'noPr':
      return `finished · took ${formatDuration(atMs - sinceMs)}`;
    case 'failed':
      return `failed · took ${formatDuration(atMs - sinceMs)}`;
    case 'archived':
      return 'the job was archived';
    case 'gone':
      return 'the platform does not know the job any more';
    case 'gaveUp':
      return `no longer watched${afterText(afterMs)}`;
  }
}

const afterText = (afterMs: number | undefined) =>
  afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`;

/** To everybody who instructed in the round from this thread. */
function endingMessage(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): Message {
  const say = (icon: string, text: Part[], buttons: ButtonParts[] = []) =>
    message([[`${icon} `, ...mentionParts(round.authors), ...text]], buttons);
  const ownButton = (label: string, action: string, about = ['round', String(round.n)]): ButtonParts[] =>
    thread.state === 'ended' ? [] : [threadButtonOf(thread, label, action, about)];
  const elsewhere = round.count === 0 && !round.found ? ' It was instructed from elsewhere.' : '';
  const openButtons = pullRequestButton('Open', ending.prLink);
  const name = pullRequestName(ending);
  switch (ending.kind) {
    case 'newPr': {
      const opened = name === '' ? '.' : `: ${name}${elsewhere && '.'}`;
      return say('✅', [`The agent opened a pull request${opened}${elsewhere}`], openButtons);
    }
    case 'samePr': {
      const same = `It is the same pull request as before${name === '' ? '' : `, ${name}`}; look at its latest commits.`;
      return say('✅', [`Finished. ${same}${elsewhere}`], openButtons);
    }
    case 'noPr': {
      const hint = round.count === 0 ? elsewhere : ' Naming the page helps.';
      return say('☑️', [`Finished without a pull request, so it probably changed no files.${hint}`]);
    }
    case 'failed': {
      const retryButtons = round.last === undefined ? [] : ownButton('Send it again', agentActions.sendAgain);
      return say('❌', [`The agent could not finish.${elsewhere}`], retryButtons);
    }
    case 'archived':
      return say('📁', archivedParts(ending.archivedAtMs));
    case 'gone': {
      const stopButtons = ownButton('Stop following', agentActions.stop, []);
      return say('❌', ['The platform does not know this job (404).'], stopButtons);
    }
    case 'gaveUp': {
      const text = `I stopped watching${afterText(ending.afterMs)}. The agent may still finish.`;
      return say('⌛', [text], ownButton('Check now', agentActions.checkNow));
    }
  }
}
