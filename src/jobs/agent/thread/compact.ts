import { isPending } from './changes.ts';
import { type Instruction, OVER_KEPT, type ThreadRun } from './record.ts';

/**
 * Puts the instructions in the order in which they go out: first those that went out or are over, then the others as
 * they were written. Of those that need nothing more the latest are kept, without their text; only the last one of the
 * newest round keeps it, since a round that failed can be sent again.
 */
export function tidy(thread: ThreadRun): ThreadRun {
  const again = thread.rounds.findLast(({ last }) => last !== undefined)?.last?.id;
  const past = thread.instructions.filter((one) => !isPending(one));
  const pending = thread.instructions.filter(isPending).toSorted(asWritten);
  const spare = past.filter((one) => isDone(one) && one.id !== again);
  const kept = past.some((one) => isDone(one) && one.id === again) ? OVER_KEPT - 1 : OVER_KEPT;
  const dropped = new Set(spare.slice(0, Math.max(0, spare.length - kept)));
  const emptied = (one: Instruction) =>
    isDone(one) && one.id !== again && one.text !== '' ? { ...one, text: '' } : one;
  return {
    ...thread,
    instructions: [...past.filter((one) => !dropped.has(one)).map(emptied), ...pending],
  };
}

/** What the agent works on is its round's affair from here on. */
const isDone = ({ state, round }: Instruction) =>
  state === 'over' || (state === 'working' && round !== undefined);

const asWritten = (one: Instruction, other: Instruction) =>
  one.atMs - other.atMs || (one.id < other.id ? -1 : Number(one.id > other.id));
