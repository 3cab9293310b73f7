import { layout, type Message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { formatDuration, upperFirst } from '../../../slack/text.ts';
import { pullRequestName } from '../../pull-request-view.ts';
import type { RoundEnding } from '../watch/record.ts';
import { agentActions, checkButton, stopButton, threadButtonOf } from './buttons.ts';
import {
  andMoreText,
  archivedParts,
  instructionCountText,
  jobName,
  pullRequestButton,
  quotedShort,
  quotedShortBy,
  toldTo,
  waitingText,
} from './phrases.ts';
import { acceptsInstructions, findInstruction, type ThreadRound, type ThreadRun } from './record.ts';

/** Returns the key of the message about the state of a round. */
const roundKey = ({ id }: ThreadRun, round: number) => `${id}.round.${round}`;

/** Returns the messages about one round: its state, if this thread sent instructions in it, and its ending. */
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
      // An open round changes with each reply, so that people see theirs was taken.
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
      fallbackRecipient: (round.last?.by ?? round.authors[0] ?? thread.owner).id,
    });
  }
  return messages;
}

function statusMessage(thread: ThreadRun, round: ThreadRound): Message {
  const { count, ending, last } = round;
  // Of several instructions, the last is named.
  const about = last === undefined ? instructionCountText(count) : quotedShortBy(last, count - 1);
  if (ending || thread.state === 'ended') {
    const { icon, words } = ENDED[ending?.kind ?? 'stopped'];
    const facts = ending ? endedFacts(round, ending) : '';
    return layout({
      lines: [[`${icon} ${about} · `, { bold: words }, facts]],
      text: [[`${upperFirst(words)}${facts.replace(' · ', ', ')}: ${about}`]],
    });
  }
  const newest = thread.rounds.every(({ n }) => n <= round.n);
  const waiting = newest ? waitingText(thread) : '';
  const small: Part[][] = waiting === '' ? [] : [[waiting]];
  const since: Part = { time: round.sinceMs, format: '{ago}' };
  return layout({
    lines: [[`⏳ ${about} · `, { bold: 'the agent is working' }, ' · sent ', since]],
    small,
    text: [[`The agent is working on ${about}, sent `, since], ...small],
  });
}

const ENDED: Record<RoundEnding['kind'] | 'stopped', { icon: string; words: string }> = {
  newPr: { icon: '✅', words: 'finished' },
  samePr: { icon: '✅', words: 'finished' },
  noPr: { icon: '➖', words: 'finished' },
  failed: { icon: '❌', words: 'failed' },
  archived: { icon: '📁', words: 'the job was archived' },
  gone: { icon: '❌', words: 'the platform no longer knows the job' },
  gaveUp: { icon: '💤', words: 'no longer watched' },
  stopped: { icon: '💤', words: 'stopped following the job' },
};

function endedFacts({ sinceMs }: ThreadRound, { kind, atMs, afterMs }: RoundEnding): string {
  if (kind === 'gaveUp') return afterText(afterMs);
  return kind === 'archived' || kind === 'gone' ? '' : ` · took ${formatDuration(atMs - sinceMs)}`;
}

const afterText = (afterMs: number | undefined) =>
  afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`;

/** The subject of an ending: the last instruction and the number of others, else all of the agent's work. */
function subjectOf(thread: ThreadRun, { count, last }: ThreadRound) {
  const instructions =
    last === undefined
      ? instructionCountText(count)
      : `${quotedShort(last.excerpt)}${andMoreText(count - 1)}`;
  const own = count > 0 || last !== undefined;
  const job = jobName(thread);
  return {
    name: own ? instructions : job,
    work: own ? instructions : `the agent's work on ${job}`,
    itsWork: own ? instructions : `its work on ${job}`,
    isOne: !own || count <= 1,
    theJob: last === undefined ? job : `the job of ${quotedShort(last.excerpt)}`,
  };
}

/** Whether a click can resend its last instruction. */
function isResendable(thread: ThreadRun, { last }: ThreadRound): boolean {
  const text = findInstruction(thread, last?.id)?.text ?? '';
  return text !== '' && acceptsInstructions(thread);
}

/** Mentions everybody who sent instructions in the round from this thread. */
function endingMessage(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): Message {
  const say = (icon: string, sentence: Part[], rest: Parameters<typeof toldTo>[3] = {}) =>
    toldTo(round.authors, icon, sentence, rest);
  const about = subjectOf(thread, round);
  const isOpen = thread.state !== 'ended';
  const elsewhere = round.count === 0 && !round.found ? ' It was instructed from elsewhere.' : '';
  const openButtons = pullRequestButton(ending.prLink).map((button) => ({
    ...button,
    style: 'primary' as const,
  }));
  const name = pullRequestName(ending);
  switch (ending.kind) {
    case 'newPr': {
      const opened = name === '' ? '.' : `: ${name}${elsewhere && '.'}`;
      const sentence = `The agent opened a pull request for ${about.name}${opened}${elsewhere}`;
      return say('✅', [sentence], { buttons: openButtons });
    }
    case 'samePr': {
      const same = `Done, in the same pull request: ${about.work}. See its latest commits${name === '' ? '.' : `: ${name}${elsewhere && '.'}`}`;
      return say('✅', [`${same}${elsewhere}`], { buttons: openButtons });
    }
    case 'noPr': {
      const hint = round.count === 0 ? elsewhere : ' Naming the page helps.';
      const done = `Done, without a pull request: ${about.work}.`;
      return say('➖', [`${done}${hint}`]);
    }
    case 'failed': {
      const ids = ['round', String(round.n)];
      const sendAgain = threadButtonOf(thread, 'Send again', agentActions.sendAgain, ids);
      const buttons = isOpen && isResendable(thread, round) ? [sendAgain] : [];
      const small = buttons.length > 0 && round.count > 1 ? [['[Send again] sends the last one.']] : [];
      return say('❌', [`The agent could not finish ${about.itsWork}.${elsewhere}`], { small, buttons });
    }
    case 'archived': {
      const rest = round.last === undefined ? ` The job: ${about.theJob}.` : '';
      const job = round.last === undefined ? 'This job' : upperFirst(about.theJob);
      return say('📁', [...archivedParts(ending.archivedAtMs, job), rest]);
    }
    case 'gone': {
      return say('❌', [`The platform does not know ${about.theJob} (404).`], {
        buttons: isOpen ? [stopButton(thread)] : [],
      });
    }
    case 'gaveUp': {
      const still = `The agent may still finish ${about.isOne ? 'it' : 'them'}.`;
      return say('💤', [`I stopped watching ${about.work}${afterText(ending.afterMs)}. ${still}`], {
        buttons: isOpen ? [checkButton(thread)] : [],
      });
    }
  }
}
