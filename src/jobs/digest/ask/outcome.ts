import type { Instruction } from '../../agent/thread/instruction.ts';
import { sendKeyOf } from '../../agent/thread/platform-call.ts';
import { findInstruction, type ThreadRun } from '../../agent/thread/record.ts';
import { roundEnding, type WatchRun } from '../../agent/watch/record.ts';
import { roundOf } from '../../agent/watch/transitions.ts';
import type { AskEnding, AskRun } from './record.ts';

/** The known result of an instruction. An ending that is not final may still change. */
export interface Outcome {
  round?: number | undefined;
  ending?: AskEnding | undefined;
  isFinal: boolean;
}

const isOpen: Outcome = { isFinal: false };

/**
 * Returns the result of an instruction. `isCaughtUp`: its thread has processed its inbox. The thread drops data that it
 * no longer needs, so the watch of its job is read as well.
 */
export function outcomeOf(
  ask: AskRun,
  thread: ThreadRun | undefined,
  { isCaughtUp, watch, nowMs }: { isCaughtUp: boolean; watch: WatchRun | undefined; nowMs: number },
): Outcome {
  const end = (kind: 'notSent' | 'unknown' | 'stopped', isFinal = true): Outcome => ({
    ending: { kind, atMs: nowMs },
    isFinal,
  });
  if (thread === undefined) return end('stopped');
  const one = findInstruction(thread, ask.instruction);
  const round = ask.round ?? one?.round ?? roundInWatch(ask, thread, one, watch);
  const hasEnded = thread.state === 'ended';
  if (round !== undefined) {
    const ending = endingOf(thread, watch, round);
    if (ending !== undefined) return { round, ending, isFinal: true };
    return hasEnded ? { round, ...end('stopped') } : { round, isFinal: false };
  }
  if (one === undefined) return isCaughtUp || hasEnded ? end('notSent') : isOpen;
  switch (one.state) {
    case 'held':
    case 'waiting':
      return hasEnded ? end('notSent') : isOpen;
    case 'failed':
      return end('notSent', hasEnded);
    case 'sending':
    case 'unknown':
      return hasEnded ? end('unknown') : isOpen;
    case 'working':
      return hasEnded ? end('stopped') : isOpen;
    case 'over':
      if (one.outcome === 'left') return end('unknown');
      return end(one.outcome === 'sent' ? 'stopped' : 'notSent');
  }
}

function roundInWatch(
  { instruction: id }: AskRun,
  thread: ThreadRun,
  one: Instruction | undefined,
  watch: WatchRun | undefined,
): number | undefined {
  return watch && roundOf(watch, sendKeyOf(thread, { id, attempt: one?.attempt ?? 1 }));
}

function endingOf(thread: ThreadRun, watch: WatchRun | undefined, round: number): AskEnding | undefined {
  const inThread = thread.rounds.find(({ n }) => n === round)?.ending;
  if (inThread !== undefined) return inThread;
  const inWatch = watch?.endings.find(({ n }) => n === round);
  return inWatch && roundEnding.parse(inWatch);
}
