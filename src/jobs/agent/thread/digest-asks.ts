import { type DigestAsk, type DigestAskEnding, findInstruction, type ThreadRun } from './record.ts';

/** Settled asks that are kept, so that the next digest can show their results. */
const MAX_SETTLED = 20;

/** The known result of an ask; without an ending it is open. An ending that is not final may still change. */
interface Outcome {
  ending?: DigestAskEnding;
  isFinal: boolean;
}

const open: Outcome = { isFinal: false };

const ended = (kind: 'notSent' | 'unknown' | 'stopped', isFinal = true): Outcome => ({
  ending: { kind },
  isFinal,
});

/** Returns the result of an instruction that a person gave under a digest. */
export function outcomeOf(thread: ThreadRun, ask: DigestAsk): Outcome {
  if (ask.ending !== undefined) return { ending: ask.ending, isFinal: true };
  const one = findInstruction(thread, ask.id);
  const hasEnded = thread.state === 'ended';
  const round = roundOf(thread, ask);
  if (round !== undefined) {
    const ending = thread.rounds.find(({ n }) => n === round)?.ending;
    if (ending !== undefined) return { ending, isFinal: true };
    return hasEnded ? ended('stopped') : open;
  }
  // The thread did not accept it.
  if (one === undefined) return ended('notSent');
  if (one.state === 'over')
    return ended(one.outcome === 'left' ? 'unknown' : one.outcome === 'sent' ? 'stopped' : 'notSent');
  if (hasEnded && one.state !== 'sending') return ended(AFTER_END[one.state]);
  return one.state === 'failed' ? ended('notSent', false) : open;
}

/** The result of an instruction whose thread ended before it had one. */
const AFTER_END = {
  held: 'notSent',
  waiting: 'notSent',
  failed: 'notSent',
  unknown: 'unknown',
  working: 'stopped',
} as const;

const roundOf = (thread: ThreadRun, { id, round }: DigestAsk) => round ?? findInstruction(thread, id)?.round;

export const addAsk = (thread: ThreadRun, ask: DigestAsk): ThreadRun =>
  thread.digestAsks.some(({ id }) => id === ask.id)
    ? thread
    : { ...thread, digestAsks: [...thread.digestAsks, ask] };

/** Stores the results of asks, before the thread drops the instructions and rounds that show them. */
export function settleAsks(thread: ThreadRun): ThreadRun {
  const digestAsks = thread.digestAsks.map((ask) => {
    const { ending, isFinal } = outcomeOf(thread, ask);
    return { ...ask, round: roundOf(thread, ask), ending: isFinal ? ending : undefined };
  });
  return { ...thread, digestAsks };
}

/** The same after the lines of all asks are published: those of settled ones are final. */
export function markFinalAsks(thread: ThreadRun): DigestAsk[] {
  const { digestAsks } = settleAsks(thread);
  return digestAsks
    .map((ask, index) => (thread.digestAsks[index]?.ending === undefined ? ask : { ...ask, final: true }))
    .filter(({ final: isFinal }, index) => !isFinal || index >= digestAsks.length - MAX_SETTLED);
}
