import { isPending } from './changes.ts';
import { type Instruction, MAX_FINISHED, type ThreadRun } from './record.ts';

/**
 * Puts the instructions in the order in which they go out: first those that went out or are over, then the others as
 * they were written. Of those that need nothing more the latest are kept, without their text; only the last one of the
 * newest round keeps it, since a round that failed can be sent again.
 */
export function compact(thread: ThreadRun): ThreadRun {
  const retryable = thread.rounds.findLast(({ last }) => last !== undefined)?.last?.id;
  const past = thread.instructions.filter((one) => !isPending(one));
  const pending = thread.instructions.filter(isPending).toSorted(byWrittenAt);
  const surplus = past.filter((one) => isFinished(one) && one.id !== retryable);
  const kept = past.some((one) => isFinished(one) && one.id === retryable) ? MAX_FINISHED - 1 : MAX_FINISHED;
  const dropped = new Set(surplus.slice(0, Math.max(0, surplus.length - kept)));
  const withoutText = (one: Instruction) =>
    isFinished(one) && one.id !== retryable && one.text !== '' ? { ...one, text: '' } : one;
  return {
    ...thread,
    instructions: [...past.filter((one) => !dropped.has(one)).map(withoutText), ...pending],
  };
}

/** What the agent works on is its round's affair from here on. */
const isFinished = ({ state, round }: Instruction) =>
  state === 'over' || (state === 'working' && round !== undefined);

const byWrittenAt = (one: Instruction, other: Instruction) =>
  one.atMs - other.atMs || (one.id < other.id ? -1 : Number(one.id > other.id));
