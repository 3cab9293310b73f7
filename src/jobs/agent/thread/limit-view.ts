import { type Message, message, type Part } from '../../../slack/blocks.ts';
import type { Shown } from '../../../slack/outbox.ts';
import { person } from '../../wording-view.ts';
import { agentActions } from './buttons.ts';
import { instructions, LISTED, quoted, quotedBy, threadButtonOf, unsentWords, waitingIn } from './phrases.ts';
import { headOf, type Instruction, type ThreadRun, TROUBLE_TOLD_AT } from './record.ts';

/** What keeps instructions from going out for a while: a limit, or a platform that does not answer. */
export function limitMessages(thread: ThreadRun, place: Shown['place']): Shown[] {
  const { limit, retry } = thread;
  const shown: Shown[] = [];
  if (limit) {
    const waiting = waitingIn(thread);
    const over = limit.over === true || waiting.length === 0 || thread.state === 'ended';
    shown.push({
      key: `${thread.id}.limit.${limit.n}`,
      place,
      kind: over ? 'state' : 'ending',
      ...(over && { repost: false }),
      ...(over && limit.discarded && { clicked: true }),
      message: over ? overMessage(limit) : limitMessage(thread, limit, waiting),
      otherwise: (waiting[0]?.by ?? thread.owner).id,
      ...(!over && { lasting: true }),
    });
  }
  if (retry && retry.inARow >= TROUBLE_TOLD_AT) {
    const key = `${thread.id}.retry.${retry.sinceMs}`;
    shown.push({ key, place, kind: 'progress', message: retryMessage(thread, retry) });
  }
  return shown;
}

/** Without somebody who took them back, true however it came to that: they were sent, or nobody follows any more. */
function overMessage({ discarded }: NonNullable<ThreadRun['limit']>): Message {
  if (discarded === undefined) return message([['Nothing waits for the limit any more.']]);
  const { by, count, first } = discarded;
  const what = count === 1 ? `Not sent: ${quotedBy(first)}.` : unsentWords(count).trim();
  return message([[`${what} Discarded by @${person(by.name)}.`]]);
}

function limitMessage(
  thread: ThreadRun,
  { kind, perHour, untilMs }: NonNullable<ThreadRun['limit']>,
  waiting: Instruction[],
): Message {
  const many = waiting.length;
  const [first] = waiting;
  const kept = many === 1 && first ? `${quotedBy(first)} is kept` : `${instructions(many)} are kept`;
  const goOut = many === 1 ? 'goes out' : 'go out from';
  const used = perHour === 1 ? 'is' : 'are';
  const words =
    kind === 'ours'
      ? `${instructions(perHour)} an hour ${used} used up for this project. ${kept} and ${goOut} about `
      : `The platform's limit is reached. ${kept}; I try again about `;
  const lines: Part[][] = [[`⏸ ${words}`, { time: untilMs, format: '{time}' }, '.']];
  if (many > 1) lines.push(...waiting.slice(0, LISTED).map((one) => [quotedBy(one)]));
  if (many > LISTED) lines.push([`and ${many - LISTED} more`]);
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
