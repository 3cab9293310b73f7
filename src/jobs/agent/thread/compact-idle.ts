import type { Instruction, ThreadRun } from './record.ts';

/** Of what is over, what an idle thread still knows: whoever edits the latest replies is told that they were sent. */
const MAX_FINISHED_IDLE = 5;

/** Edits that came before their message are waited for so long, and a question stands so long. */
const RECENT_MS = 10 * 60_000;

/**
 * The thread without what nobody needs once it is idle, so that thousands of them are small. The very same when it is
 * at work, or when there is nothing to leave out.
 */
export function compactIdle(thread: ThreadRun, nowMs: number): ThreadRun {
  const { rounds, instructions, early, askedAtMs } = thread;
  const isAtWork = instructions.some(({ state }) => state !== 'over' && state !== 'failed');
  if (isAtWork || rounds.some(({ ending }) => ending === undefined)) return thread;
  // A round that failed can be sent again.
  const last = rounds.findLast((round) => round.last !== undefined);
  const retryable = last?.ending?.kind === 'failed' ? last : undefined;
  const isKept = (one: Instruction) =>
    one.state === 'failed' || one.creates || one.id === retryable?.last?.id;
  const finished = instructions.filter((one) => !isKept(one));
  const dropped = new Set(finished.slice(0, Math.max(0, finished.length - MAX_FINISHED_IDLE)));
  const next: ThreadRun = {
    ...thread,
    rounds: rounds.filter((round, index) => round === retryable || index === rounds.length - 1),
    instructions: instructions
      .filter((one) => !dropped.has(one))
      .map((one) => (isKept(one) ? one : withoutSend(one))),
    early: early.filter(({ ts }) => nowMs - Number(ts) * 1000 < RECENT_MS),
    askedAtMs: Object.fromEntries(Object.entries(askedAtMs).filter(([, atMs]) => nowMs - atMs < RECENT_MS)),
  };
  return JSON.stringify(next) === JSON.stringify(thread) ? thread : next;
}

/** What is left of one that is over: whose it was, and what came of it. */
function withoutSend({ sentAtMs: _at, sendToken: _token, ...one }: Instruction): Instruction {
  return { ...one, text: '', excerpt: '' };
}
