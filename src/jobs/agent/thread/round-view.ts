import { type ButtonParts, type Message, message, type Part } from '../../../slack/blocks.ts';
import type { Shown } from '../../../slack/outbox.ts';
import { duration } from '../../../slack/text.ts';
import { agentActions } from './buttons.ts';
import {
  archivedWords,
  instructions,
  mentions,
  pullRequestButton,
  pullRequestName,
  quotedBy,
  threadButtonOf,
  waitingWords,
} from './phrases.ts';
import type { RoundEnding, ThreadRound, ThreadRun } from './record.ts';

/** The key of the message that says how a round goes. */
export const roundKey = (thread: Pick<ThreadRun, 'id'>, round: number) => `${thread.id}.round.${round}`;

/** What a thread says of one round: how it goes, where this thread instructed, and how it ended. */
export function roundMessages(thread: ThreadRun, round: ThreadRound, place: Shown['place']): Shown[] {
  const shown: Shown[] = [];
  if (round.count > 0) {
    const isOpen = !round.ending && thread.state !== 'ended';
    shown.push({
      key: roundKey(thread, round.n),
      place,
      // While it lasts it changes with what people write: it is how they see that their replies were taken.
      kind: 'state',
      ...(isOpen && { repost: false }),
      message: statusMessage(thread, round),
    });
  }
  if (round.ending) {
    shown.push({
      key: `${thread.id}.end.${round.n}`,
      place,
      kind: 'ending',
      message: endingMessage(thread, round, round.ending),
      otherwise: (round.last?.by ?? round.authors[0] ?? thread.owner).id,
    });
  }
  return shown;
}

function statusMessage(thread: ThreadRun, round: ThreadRound): Message {
  const { ending } = round;
  if (ending) return message([[`${sentWords(round)} · ${endedWords(round, ending)}`]]);
  if (thread.state === 'ended')
    return message([[`${sentWords(round)} · the job is no longer followed here`]]);
  const line: Part[] = [
    `⏳ ${sentWords(round)} · the agent is working · started `,
    { time: round.sinceMs, format: '{ago}' },
  ];
  const newest = thread.rounds.every(({ n }) => n <= round.n);
  const waiting = newest ? waitingWords(thread) : '';
  return message(waiting === '' ? [line] : [line, [waiting]]);
}

function sentWords({ count, last }: ThreadRound): string {
  if (last === undefined) return `Sent ${instructions(count)}`;
  return count === 1 ? `Sent ${quotedBy(last)}` : `Sent ${instructions(count)}, the last ${quotedBy(last)}`;
}

function endedWords({ sinceMs }: ThreadRound, { kind, atMs, afterMs }: RoundEnding): string {
  switch (kind) {
    case 'newPr':
    case 'samePr':
    case 'noPr':
      return `finished · took ${duration(atMs - sinceMs)}`;
    case 'failed':
      return `failed · took ${duration(atMs - sinceMs)}`;
    case 'archived':
      return 'the job was archived';
    case 'gone':
      return 'the platform does not know the job any more';
    case 'gaveUp':
      return `no longer watched${after(afterMs)}`;
  }
}

const after = (afterMs: number | undefined) => (afterMs === undefined ? '' : ` after ${duration(afterMs)}`);

/** How a round came out, to everybody of this thread who instructed in it. */
function endingMessage(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): Message {
  const to = mentions(round.authors);
  const about = ['round', String(round.n)];
  const own = (label: string, action: string): ButtonParts[] =>
    thread.state === 'ended' ? [] : [threadButtonOf(thread, label, action, about)];
  const elsewhere = round.count === 0 && !round.found ? ' It was instructed from elsewhere.' : '';
  const open = pullRequestButton('Open', ending.prLink);
  const name = pullRequestName(ending);
  switch (ending.kind) {
    case 'newPr': {
      const opened = name === '' ? '.' : `: ${name}${elsewhere && '.'}`;
      return message([['✅ ', ...to, `The agent opened a pull request${opened}${elsewhere}`]], open);
    }
    case 'samePr': {
      const same = `It is the same pull request as before${name === '' ? '' : `, ${name}`}; look at its latest commits.`;
      return message([['✅ ', ...to, `Finished. ${same}${elsewhere}`]], open);
    }
    case 'noPr': {
      const hint = round.count === 0 ? elsewhere : ' Naming the page helps.';
      const text = `Finished without a pull request, so it probably changed no files.${hint}`;
      return message([['☑️ ', ...to, text]]);
    }
    case 'failed': {
      const again = round.last === undefined ? [] : own('Send it again', agentActions.sendAgain);
      return message([['❌ ', ...to, `The agent could not finish.${elsewhere}`]], again);
    }
    case 'archived':
      return message([['📁 ', ...to, ...archivedWords(ending.archivedAtMs)]]);
    case 'gone':
      return message(
        [['❌ ', ...to, 'The platform does not know this job (404).']],
        thread.state === 'ended' ? [] : [threadButtonOf(thread, 'Stop following', agentActions.stop)],
      );
    case 'gaveUp':
      return message(
        [['⌛ ', ...to, `I stopped watching${after(ending.afterMs)}. The agent may still finish.`]],
        own('Check now', agentActions.checkNow),
      );
  }
}
