import { isAlone, switching } from './asking.ts';
import { changing, over, releasing, stopped } from './changes.ts';
import type { ThreadClick } from './event.ts';
import { headOf, type Instruction, type Person, type ThreadRun } from './record.ts';

/** What a click on a button of a thread changes. A click that finds its thing over changes nothing. */
export function clicked(thread: ThreadRun, click: ThreadClick, nowMs: number): ThreadRun {
  const { action, about, by } = click;
  switch (action) {
    case 'send':
    case 'notForAgent':
    case 'always':
      return answered(thread, action, about, by);
    case 'discard':
      return discarded(thread, about, by);
    case 'sendAgain':
      return about[0] === 'round'
        ? roundSentAgain(thread, Number(about[1]), by, nowMs)
        : sentAgain(thread, click, nowMs);
    case 'leave':
      return left(thread, click, nowMs);
    case 'onlyMentioned':
    case 'allReplies':
      return switching(thread, MODES[action], nowMs);
    case 'stop':
      return stopped(thread, by);
    // The look asks the platform.
    case 'checkJob':
    case 'checkNow':
      return thread;
  }
}

/** What the buttons and the words of the same name switch to. */
export const MODES = { onlyMentioned: 'mention', allReplies: 'all' } as const;

/**
 * The answer to the question whether replies are for the agent. It settles everything of that person's that is held,
 * and stands for the thread where it depends on the person which replies count. For an owner who is alone, yes and no
 * are about the replies that were shown.
 */
function answered(
  thread: ThreadRun,
  action: 'send' | 'notForAgent' | 'always',
  about: readonly string[],
  by: Person,
): ThreadRun {
  const isOthers = ({ id, by: author }: Instruction) => about.includes(id) && author.id !== by.id;
  if (thread.instructions.some(isOthers)) return thread;
  const alone = isAlone(thread, by.id) && action !== 'always';
  const held = thread.instructions
    .filter((one) => one.state === 'held' && one.by.id === by.id && (!alone || about.includes(one.id)))
    .map(({ id }) => id);
  // "Always" is a wish for the replies to come, too; the other two need something to be about.
  if (held.length === 0 && action !== 'always') return thread;
  const settled =
    action === 'notForAgent'
      ? changing(thread, (one) => (held.includes(one.id) ? over(one, 'notForAgent') : one))
      : releasing(thread, held);
  if (alone || thread.mode !== 'auto') return settled;
  const answer = action === 'always' ? 'always' : 'mention';
  return { ...settled, answers: { ...settled.answers, [by.id]: answer } };
}

/** Drops what still waits of what was shown. Where nothing waits any more, the message about the limit says by whom. */
function discarded(thread: ThreadRun, ids: readonly string[], by: Person): ThreadRun {
  const gone = thread.instructions.filter(({ id, state }) => state === 'waiting' && ids.includes(id));
  const [first] = gone;
  if (first === undefined) return thread;
  const kept = changing(thread, (one) => (gone.includes(one) ? over(one, 'discarded') : one));
  if (kept.limit === undefined || headOf(kept) !== undefined) return kept;
  const what = { by, count: gone.length, first: { by: first.by, excerpt: first.excerpt } };
  return { ...kept, limit: { ...kept.limit, discarded: what } };
}

function sentAgain(thread: ThreadRun, click: ThreadClick, nowMs: number): ThreadRun {
  const one = troubled(thread, click, ['unknown', 'failed']);
  if (!one) return thread;
  const { sentAtMs: _sent, round: _round, outcome: _outcome, ...rest } = one;
  const again: Instruction = { ...rest, state: 'waiting', attempt: one.attempt + 1 };
  return troubleAnswered(
    changing(thread, (other) => (other === one ? again : other)),
    click,
    'sendAgain',
    nowMs,
  );
}

function left(thread: ThreadRun, click: ThreadClick, nowMs: number): ThreadRun {
  const one = troubled(thread, click, ['unknown']);
  if (!one) return thread;
  const leaving: Instruction = { ...one, state: 'over', outcome: 'left' };
  return troubleAnswered(
    changing(thread, (other) => (other === one ? leaving : other)),
    click,
    'leave',
    nowMs,
  );
}

/** The instruction that was clicked, if it is still in the trouble that the message told of. */
const troubled = (
  { instructions }: ThreadRun,
  { about: [id], attempt }: ThreadClick,
  states: readonly Instruction['state'][],
) => instructions.find((one) => one.id === id && one.attempt === attempt && states.includes(one.state));

function troubleAnswered(
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
function roundSentAgain(thread: ThreadRun, n: number, by: Person, nowMs: number): ThreadRun {
  const round = thread.rounds.find((one) => one.n === n);
  const last = thread.instructions.find(({ id }) => id === round?.last?.id);
  if (round?.ending?.kind !== 'failed' || !last || last.text === '') return thread;
  const id = `${last.id} again ${n}`;
  if (thread.instructions.some((one) => one.id === id)) return thread;
  const { text, excerpt } = last;
  const again: Instruction = {
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
  return { ...thread, instructions: [...thread.instructions, again] };
}
