import { isSoleAuthor, switchMode } from './asking.ts';
import { dropInstruction, mapInstructions, releaseHeld, stopThread } from './changes.ts';
import type { ThreadClick } from './event.ts';
import { headOf, type Instruction, type Person, type ThreadRun } from './record.ts';

/** What a click on a button of a thread changes. A click that finds its thing over changes nothing. */
export function applyClick(thread: ThreadRun, click: ThreadClick, nowMs: number): ThreadRun {
  const { action, about, by } = click;
  switch (action) {
    case 'send':
    case 'notForAgent':
    case 'always':
      return applyAnswer(thread, action, about, by);
    case 'discard':
      return discardWaiting(thread, about, by);
    case 'sendAgain':
      return about[0] === 'round'
        ? resendLastOfRound(thread, Number(about[1]), by, nowMs)
        : resend(thread, click, nowMs);
    case 'leave':
      return leaveUnclear(thread, click, nowMs);
    case 'onlyMentioned':
    case 'allReplies':
      return switchMode(thread, MODE_BY_ACTION[action], nowMs);
    case 'stop':
      return stopThread(thread, by);
    // The look asks the platform.
    case 'checkJob':
    case 'checkNow':
      return thread;
  }
}

/** What the buttons and the words of the same name switch to. */
export const MODE_BY_ACTION = { onlyMentioned: 'mention', allReplies: 'all' } as const;

/**
 * The answer to the question whether replies are for the agent. It settles everything of that person's that is held,
 * and stands for the thread where it depends on the person which replies count. For an owner who is alone, yes and no
 * are about the replies that were shown.
 */
function applyAnswer(
  thread: ThreadRun,
  action: 'send' | 'notForAgent' | 'always',
  about: readonly string[],
  by: Person,
): ThreadRun {
  const isByOther = ({ id, by: author }: Instruction) => about.includes(id) && author.id !== by.id;
  if (thread.instructions.some(isByOther)) return thread;
  const isSole = isSoleAuthor(thread, by.id) && action !== 'always';
  const held = thread.instructions
    .filter((one) => one.state === 'held' && one.by.id === by.id && (!isSole || about.includes(one.id)))
    .map(({ id }) => id);
  // "Always" is a wish for the replies to come, too; the other two need something to be about.
  if (held.length === 0 && action !== 'always') return thread;
  const next =
    action === 'notForAgent'
      ? mapInstructions(thread, (one) => (held.includes(one.id) ? dropInstruction(one, 'notForAgent') : one))
      : releaseHeld(thread, held);
  if (isSole || thread.mode !== 'auto') return next;
  const answer = action === 'always' ? 'always' : 'mention';
  return { ...next, answers: { ...next.answers, [by.id]: answer } };
}

/** Drops what still waits of what was shown. Where nothing waits any more, the message about the limit says by whom. */
function discardWaiting(thread: ThreadRun, ids: readonly string[], by: Person): ThreadRun {
  const dropped = thread.instructions.filter(({ id, state }) => state === 'waiting' && ids.includes(id));
  const [first] = dropped;
  if (first === undefined) return thread;
  const kept = mapInstructions(thread, (one) =>
    dropped.includes(one) ? dropInstruction(one, 'discarded') : one,
  );
  if (kept.limit === undefined || headOf(kept) !== undefined) return kept;
  const summary = { by, count: dropped.length, first: { by: first.by, excerpt: first.excerpt } };
  return { ...kept, limit: { ...kept.limit, discarded: summary } };
}

function resend(thread: ThreadRun, click: ThreadClick, nowMs: number): ThreadRun {
  const one = findTroubled(thread, click, ['unknown', 'failed']);
  if (!one) return thread;
  const { sentAtMs: _sent, round: _round, outcome: _outcome, ...rest } = one;
  const resent: Instruction = { ...rest, state: 'waiting', attempt: one.attempt + 1 };
  return answerTrouble(
    mapInstructions(thread, (other) => (other === one ? resent : other)),
    click,
    'sendAgain',
    nowMs,
  );
}

function leaveUnclear(thread: ThreadRun, click: ThreadClick, nowMs: number): ThreadRun {
  const one = findTroubled(thread, click, ['unknown']);
  if (!one) return thread;
  const closed: Instruction = { ...one, state: 'over', outcome: 'left' };
  return answerTrouble(
    mapInstructions(thread, (other) => (other === one ? closed : other)),
    click,
    'leave',
    nowMs,
  );
}

/** The instruction that was clicked, if it is still in the trouble that the message told of. */
const findTroubled = (
  { instructions }: ThreadRun,
  { about: [id], attempt }: ThreadClick,
  states: readonly Instruction['state'][],
) => instructions.find((one) => one.id === id && one.attempt === attempt && states.includes(one.state));

function answerTrouble(
  thread: ThreadRun,
  { about: [id], attempt, by }: ThreadClick,
  action: 'sendAgain' | 'leave',
  nowMs: number,
): ThreadRun {
  const troubles = thread.troubles.map((trouble) =>
    trouble.id === id && trouble.attempt === attempt && !trouble.answer
      ? { ...trouble, answer: { by, action, atMs: nowMs } }
      : trouble,
  );
  return { ...thread, troubles };
}

/** The last instruction of a round that failed, once more and once only. */
function resendLastOfRound(thread: ThreadRun, n: number, by: Person, nowMs: number): ThreadRun {
  const round = thread.rounds.find((one) => one.n === n);
  const last = thread.instructions.find(({ id }) => id === round?.last?.id);
  if (round?.ending?.kind !== 'failed' || !last || last.text === '') return thread;
  const id = `${last.id} again ${n}`;
  if (thread.instructions.some((one) => one.id === id)) return thread;
  const { text, excerpt } = last;
  const resent: Instruction = {
    id,
    by,
    atMs: nowMs,
    isReply: false,
    text,
    excerpt,
    files: false,
    creates: false,
    state: 'waiting',
    attempt: 1,
  };
  return { ...thread, instructions: [...thread.instructions, resent] };
}
