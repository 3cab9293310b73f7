import { addNote } from './changes.ts';
import type { Instruction, ThreadRun } from './record.ts';

/** How long a question counts as asked, so that what is written meanwhile does not raise another. */
const QUESTION_TTL_MS = 10 * 60 * 1000;

/**
 * An owner whose replies count because nobody else has written here. Such a one is asked about each reply by itself,
 * and the answer is about that reply alone.
 */
export const isSoleAuthor = ({ mode, owner, crowd }: ThreadRun, userId: string) =>
  mode === 'auto' && owner.id === userId && !crowd;

/** A question to somebody of whom nothing is held is settled. One who is alone is asked for each reply. */
export function hasOpenQuestion(thread: ThreadRun, userId: string, nowMs: number): boolean {
  const askedAtMs = thread.askedAtMs[userId];
  if (askedAtMs === undefined || isSoleAuthor(thread, userId)) return false;
  const hasHeld = thread.instructions.some(({ state, by }) => state === 'held' && by.id === userId);
  return hasHeld && nowMs - askedAtMs < QUESTION_TTL_MS;
}

/** Asks the author whether a reply is for the agent. */
export function askAuthor(
  thread: ThreadRun,
  { id, by, excerpt }: Pick<Instruction, 'id' | 'by' | 'excerpt'>,
  nowMs: number,
): ThreadRun {
  // Two questions to one person in one millisecond are still two.
  const atMs = Math.max(nowMs, (thread.askedAtMs[by.id] ?? 0) + 1);
  return addNote(
    { ...thread, askedAtMs: { ...thread.askedAtMs, [by.id]: atMs } },
    { id: `question ${by.id} ${atMs}`, to: by.id, kind: 'question', about: id, excerpt },
  );
}

/** Other replies count from now on. What is held stays held, so each who has some is asked about it once more. */
export function switchMode(thread: ThreadRun, mode: 'all' | 'mention', nowMs: number): ThreadRun {
  if (thread.mode === mode) return thread;
  const held = thread.instructions.filter(({ state }) => state === 'held');
  const firsts = held.filter((one, index) => held.findIndex(({ by }) => by.id === one.by.id) === index);
  return firsts.reduce<ThreadRun>((next, one) => askAuthor(next, one, nowMs), { ...thread, mode });
}
