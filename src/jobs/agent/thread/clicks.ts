import type { Person } from '../../shared/origin.ts';
import { endThread, releaseHeld, updateInstruction, updateInstructions } from './instructions.ts';
import type { Instruction, ThreadClick, ThreadRun } from './record.ts';
import {
  findInstruction,
  heldOf,
  isHeldReply,
  isSoleAuthor,
  isWaitingForTurn,
  mayAnswer,
  newInstruction,
  unresolvedSendOf,
  waitingOf,
} from './record.ts';
/** Returns the thread after a click. Returns the same thread if the click is too late. */
export function applyClick(thread: ThreadRun, click: ThreadClick): ThreadRun {
  const { action, about, by } = click;
  if (action === 'send' || action === 'notForAgent' || action === 'always')
    return applyAnswer(thread, action, click);
  if (action === 'sendWithBackground' || action === 'sendAlone' || action === 'sendOnlyTheirs')
    return applyBackgroundAnswer(thread, click);
  if (action === 'discard' || action === 'cancel') return discardWaiting(thread, about, by);
  if (action === 'sendAgain' && about[0] === 'round')
    return resendLastOfRound(thread, Number(about[1]), click);
  if (action === 'sendAgain' || action === 'sendAnyway') return resolveProblem(thread, click, 'sendAgain');
  if (action === 'leave') return resolveProblem(thread, click, action);
  if (action === 'sendNow') return sendNow(thread, about, by);
  if (action === 'keepWaiting') return keepWaiting(thread, about, click.atMs);
  if (action === 'stop') return endThread(thread, { why: 'stopped', by });
  if (action === 'checkJob') return requestPoll(thread, click.atMs);
  return { ...thread, mode: MODES[action] };
}

const requestPoll = (thread: ThreadRun, atMs: number): ThreadRun => ({
  ...thread,
  pollRequested: true,
  nextPollAtMs: thread.pollFailure?.nextMs ?? atMs,
});

const MODES = { onlyMentioned: 'mention', allReplies: 'all' } as const;

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
  const heldIds = held.map(({ id }) => id);
  const next =
    action === 'notForAgent'
      ? updateInstructions(thread, ({ id }) => heldIds.includes(id), { state: 'notForAgent' })
      : releaseHeld(thread, heldIds);
  if (isAboutIds || thread.mode !== 'auto' || thread.answers[by.id] === 'always') return next;
  const answer = action === 'always' ? 'always' : 'mention';
  return { ...next, answers: { ...next.answers, [by.id]: answer } };
}

/** Releases an instruction, with or without the background that its author was asked about. */
function applyBackgroundAnswer(thread: ThreadRun, { action, about: [id], by }: ThreadClick): ThreadRun {
  const one = findInstruction(thread, id);
  const isAlone = action !== 'sendWithBackground';
  if (one?.state !== 'held' || !one.background || !mayAnswer(one, by.id, isAlone)) return thread;
  // The person who decides needs the permission when it is sent: its author may have left.
  const background = isAlone ? undefined : one.background;
  return updateInstruction(thread, one.id, { state: 'waiting', background, by });
}

/** Drops those in `ids` that wait, are the person's own, or are open to all. If none waits any more, the message about the wait names the person. */
function discardWaiting(thread: ThreadRun, ids: readonly string[], by: Person): ThreadRun {
  const isDiscarded = (one: Instruction) =>
    ids.includes(one.id) &&
    (one.state === 'waiting' || (one.state === 'held' && !isHeldReply(one) && mayAnswer(one, by.id, true)));
  const next = updateInstructions(thread, isDiscarded, { state: 'discarded' });
  if (next === thread || waitingOf(next).length > 0) return next;
  const { limit, turn } = next;
  return {
    ...next,
    limit: limit && { ...limit, discardedBy: by },
    turn: turn && { ...turn, discardedBy: by },
  };
}

/** Sends the first of these that waits although the agent works, unless a send has an unknown result. The others wait for it in turn. */
function sendNow(thread: ThreadRun, [id]: readonly string[], by: Person): ThreadRun {
  const one = findInstruction(thread, id);
  const isUnclear = unresolvedSendOf(thread)?.state === 'unknown';
  if (one?.state !== 'waiting' || one.sentNowBy || isUnclear) return thread;
  return updateInstruction(thread, one.id, { sentNowBy: by });
}

/** Answers the question about an agent that works for long, which is asked again later. */
function keepWaiting(thread: ThreadRun, [n]: readonly string[], atMs: number): ThreadRun {
  const { turn } = thread;
  const isAsked = isWaitingForTurn(thread) && turn?.workedMs !== undefined && String(turn.n) === n;
  if (!isAsked) return thread;
  return { ...thread, turn: { n: atMs, before: turn.n, keptAtMs: atMs } };
}

/** Resends an instruction that is unknown or failed, or leaves an unknown one as it is. */
function resolveProblem(thread: ThreadRun, click: ThreadClick, action: 'sendAgain' | 'leave') {
  const { attempt, by, atMs } = click;
  const one = findInstruction(thread, click.about[0]);
  const isOpen = one?.state === 'unknown' || (one?.state === 'failed' && action === 'sendAgain');
  if (one?.attempt !== attempt || !isOpen) return thread;
  const problem = one.problem && { ...one.problem, answer: { by, action } };
  const resent = { state: 'waiting', attempt: attempt + 1, round: undefined, sentNowBy: undefined } as const;
  const next = action === 'leave' ? ({ state: 'left' } as const) : resent;
  // If it did reach the agent, the agent may work on it: that is looked up before the next send, which is another call.
  const looked = one.state === 'unknown' ? requestPoll({ ...thread, sends: thread.sends + 1 }, atMs) : thread;
  return updateInstruction(looked, one.id, { ...next, problem });
}

/** Resends the last instruction of a failed round, once per round. */
function resendLastOfRound(thread: ThreadRun, n: number, { by, atMs }: ThreadClick): ThreadRun {
  const round = thread.rounds.find((one) => one.n === n);
  const last = findInstruction(thread, round?.last?.id);
  if (round?.ending?.kind !== 'failed' || !last || last.text === '') return thread;
  // However often it is sent again, its id stays short: buttons carry many.
  const id = `${last.id.split(' ', 1)[0]} again ${n}`;
  if (findInstruction(thread, id)) return thread;
  const { text, excerpt, background } = last;
  const resent = newInstruction({ id, by, atMs, text, excerpt, background });
  return { ...thread, instructions: [...thread.instructions, resent] };
}
