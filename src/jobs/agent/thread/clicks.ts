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

/** Returns the thread after a click. Returns the same thread if the click is too late. */
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
    // The step asks the watch for a poll.
    case 'checkJob':
    case 'checkNow':
      return thread;
  }
}

/**
 * Applies a person's answer about their held replies. In mode `auto`, it also decides about their later replies. For a
 * sole author, `send` and `notForAgent` apply only to the replies of the click.
 */
function applyAnswer(
  thread: ThreadRun,
  action: 'send' | 'notForAgent' | 'always',
  { about: ids, by }: ThreadClick,
): ThreadRun {
  if (thread.instructions.some((one) => ids.includes(one.id) && one.by.id !== by.id)) return thread;
  const isAboutIds = isSoleAuthor(thread, by.id) && action !== 'always';
  const held = heldOf(thread, by.id).filter(({ id }) => !isAboutIds || ids.includes(id));
  // "Always" also works without a held reply; the other two then have no subject.
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

/** Drops the instructions in `ids` that still wait. If none waits any more, the limit's message names the person. */
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

/** Resends an instruction that is unknown or failed, or leaves an unknown one as it is. */
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

/** Resends the last instruction of a failed round, once per round. */
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
