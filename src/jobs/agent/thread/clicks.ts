import type { ThreadClick } from './event.ts';
import { type Instruction, newInstruction, type Person } from './instruction.ts';
import { findInstruction, heldOf, isSoleAuthor, nextWaitingOf, type ThreadRun } from './record.ts';
import {
  answerSendProblem,
  dropInstructions,
  endThread,
  releaseHeld,
  switchMode,
  updateInstruction,
} from './transitions.ts';

/** The mode that a button, or the command of the same name, switches to. */
export const MODE_BY_ACTION = { onlyMentioned: 'mention', allReplies: 'all' } as const;

/** Returns the thread after a click: the thread itself when the click comes too late to change anything. */
export function applyClick(thread: ThreadRun, click: ThreadClick, nowMs: number): ThreadRun {
  const { action, about, by } = click;
  switch (action) {
    case 'send':
    case 'notForAgent':
    case 'always':
      return applyAnswer(thread, action, click);
    case 'discard':
      return discardWaiting(thread, about, by);
    case 'sendAgain':
      return about[0] === 'round'
        ? resendLastOfRound(thread, Number(about[1]), by, click.atMs ?? nowMs)
        : resolveTrouble(thread, click, action, nowMs);
    case 'leave':
      return resolveTrouble(thread, click, action, nowMs);
    case 'onlyMentioned':
    case 'allReplies':
      return switchMode(thread, MODE_BY_ACTION[action], nowMs);
    case 'stop':
      return endThread(thread, { why: 'stopped', by });
    // The step has the watch poll the platform.
    case 'checkJob':
    case 'checkNow':
      return thread;
  }
}

/**
 * Applies a person's answer to the question whether replies are for the agent. It is about all held replies of that
 * person and, in mode `auto`, about later ones; for a sole author `send` and `notForAgent` are about those of the click alone.
 */
function applyAnswer(
  thread: ThreadRun,
  action: 'send' | 'notForAgent' | 'always',
  { about: ids, by }: ThreadClick,
): ThreadRun {
  if (thread.instructions.some((one) => ids.includes(one.id) && one.by.id !== by.id)) return thread;
  const isAboutIds = isSoleAuthor(thread, by.id) && action !== 'always';
  const held = heldOf(thread, by.id).filter(({ id }) => !isAboutIds || ids.includes(id));
  // "Always" counts without a held reply, too; the other two have nothing to be about then.
  if (held.length === 0 && action !== 'always') return thread;
  const next =
    action === 'notForAgent'
      ? dropInstructions(thread, (one) => held.includes(one), 'notForAgent')
      : releaseHeld(
          thread,
          held.map(({ id }) => id),
        );
  if (isAboutIds || thread.mode !== 'auto') return next;
  const answer = action === 'always' ? 'always' : 'mention';
  return { ...next, answers: { ...next.answers, [by.id]: answer } };
}

/** Drops those of `ids` that still wait. When none waits any more, the message about the limit says who did it. */
function discardWaiting(thread: ThreadRun, ids: readonly string[], by: Person): ThreadRun {
  const isDiscarded = ({ id, state }: Instruction) => state === 'waiting' && ids.includes(id);
  const discarded = thread.instructions.filter(isDiscarded);
  const [first] = discarded;
  if (first === undefined) return thread;
  const next = dropInstructions(thread, isDiscarded, 'discarded');
  if (next.limit === undefined || nextWaitingOf(next) !== undefined) return next;
  const summary = { by, count: discarded.length, first: { by: first.by, excerpt: first.excerpt } };
  return { ...next, limit: { ...next.limit, discarded: summary } };
}

/** Sends an instruction again that is unknown or failed, or leaves an unknown one at that. */
function resolveTrouble(
  thread: ThreadRun,
  { about: [id], attempt, by }: ThreadClick,
  action: 'sendAgain' | 'leave',
  nowMs: number,
): ThreadRun {
  const one = findInstruction(thread, id);
  const isOpen = one?.state === 'unknown' || (one?.state === 'failed' && action === 'sendAgain');
  if (one?.attempt !== attempt || !isOpen) return thread;
  const unsent = { sentAtMs: undefined, round: undefined, outcome: undefined };
  const changes: Partial<Instruction> =
    action === 'leave'
      ? { state: 'over', outcome: 'left' }
      : { state: 'waiting', attempt: attempt + 1, ...unsent };
  return answerSendProblem(updateInstruction(thread, one.id, changes), one, { by, action, atMs: nowMs });
}

/** Sends the last instruction of a round that failed again, once for that round. */
function resendLastOfRound(thread: ThreadRun, n: number, by: Person, nowMs: number): ThreadRun {
  const round = thread.rounds.find((one) => one.n === n);
  const last = findInstruction(thread, round?.last?.id);
  if (round?.ending?.kind !== 'failed' || !last || last.text === '') return thread;
  const id = `${last.id} again ${n}`;
  if (findInstruction(thread, id)) return thread;
  const { text, excerpt } = last;
  const resent = newInstruction({ id, by, atMs: nowMs, text, excerpt });
  return { ...thread, instructions: [...thread.instructions, resent] };
}
