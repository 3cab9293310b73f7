import { type Message, message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { personName } from '../../wording-view.ts';
import { agentActions } from './buttons.ts';
import {
  instructionCountText,
  MAX_LISTED,
  quoted,
  quotedBy,
  threadButtonOf,
  unsentText,
  waitingInstructions,
} from './phrases.ts';
import { headOf, type Instruction, type ThreadRun, TROUBLE_SHOWN_AFTER } from './record.ts';

/** What keeps instructions from going out for a while: a limit, or a platform that does not answer. */
export function limitMessages(thread: ThreadRun, place: OutboxMessage['place']): OutboxMessage[] {
  const { limit, retry } = thread;
  const messages: OutboxMessage[] = [];
  if (limit) {
    const waiting = waitingInstructions(thread);
    const isOver = limit.over === true || waiting.length === 0 || thread.state === 'ended';
    messages.push({
      key: `${thread.id}.limit.${limit.n}`,
      place,
      kind: isOver ? 'state' : 'ending',
      ...(isOver && { repost: false }),
      ...(isOver && limit.discarded && { clicked: true }),
      message: isOver ? endedLimitMessage(limit) : limitMessage(thread, limit, waiting),
      otherwise: (waiting[0]?.by ?? thread.owner).id,
      ...(!isOver && { lasting: true }),
    });
  }
  if (retry && retry.inARow >= TROUBLE_SHOWN_AFTER) {
    const key = `${thread.id}.retry.${retry.sinceMs}`;
    messages.push({ key, place, kind: 'progress', message: retryMessage(thread, retry) });
  }
  return messages;
}

/** Without somebody who took them back, true however it came to that: they were sent, or nobody follows any more. */
function endedLimitMessage({ discarded }: NonNullable<ThreadRun['limit']>): Message {
  if (discarded === undefined) return message([['Nothing waits for the limit any more.']]);
  const { by, count, first } = discarded;
  const what = count === 1 ? `Not sent: ${quotedBy(first)}.` : unsentText(count).trim();
  return message([[`${what} Discarded by @${personName(by.name)}.`]]);
}

function limitMessage(
  thread: ThreadRun,
  { kind, perHour, untilMs }: NonNullable<ThreadRun['limit']>,
  waiting: Instruction[],
): Message {
  const many = waiting.length;
  const [first] = waiting;
  const kept = many === 1 && first ? `${quotedBy(first)} is kept` : `${instructionCountText(many)} are kept`;
  const goOut = many === 1 ? 'goes out' : 'go out from';
  const used = perHour === 1 ? 'is' : 'are';
  const text =
    kind === 'ours'
      ? `${instructionCountText(perHour)} an hour ${used} used up for this project. ${kept} and ${goOut} about `
      : `The platform's limit is reached. ${kept}; I try again about `;
  const lines: Part[][] = [[`⏸ ${text}`, { time: untilMs, format: '{time}' }, '.']];
  if (many > 1) lines.push(...waiting.slice(0, MAX_LISTED).map((one) => [quotedBy(one)]));
  if (many > MAX_LISTED) lines.push([`and ${many - MAX_LISTED} more`]);
  const ids = waiting.map(({ id }) => id);
  const label = many === 1 ? 'Discard' : 'Discard all';
  return message(lines, [threadButtonOf(thread, label, agentActions.discard, ids, first?.attempt)]);
}

/** The second text is true however it came out. */
function retryMessage(thread: ThreadRun, { over }: NonNullable<ThreadRun['retry']>): Message {
  if (over || thread.state === 'ended') return message([["The docs platform didn't answer for a while."]]);
  const head = headOf(thread);
  const what = head?.creates ? 'the job is not made yet' : `${quoted(head?.excerpt)} is not sent yet`;
  return message([[`The docs platform isn't answering, so ${what}. I keep trying.`]]);
}
