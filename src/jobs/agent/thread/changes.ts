import type { Instruction, Note, Person, ThreadRun } from './record.ts';

/** Notes of one kind to one person that are to be said yet; more tell them nothing new. */
const MAX_NOTES_PER_KIND = 5;

/** The note is kept once; the same occasion has the same id. A question is always kept: an answer waits for it. */
export function addNote(thread: ThreadRun, note: Note): ThreadRun {
  const { id, to, kind } = note;
  if (thread.notes.some((other) => other.id === id)) return thread;
  const alike = thread.notes.filter((other) => other.to === to && other.kind === kind);
  if (kind !== 'question' && alike.length >= MAX_NOTES_PER_KIND) return thread;
  return { ...thread, notes: [...thread.notes, note] };
}

/** The thread with each of its instructions as `change` gives it; the same thread where it changes none. */
export function mapInstructions(thread: ThreadRun, change: (one: Instruction) => Instruction): ThreadRun {
  const instructions = thread.instructions.map(change);
  const same = instructions.every((one, index) => one === thread.instructions[index]);
  return same ? thread : { ...thread, instructions };
}

/** It can still be changed and taken back. */
export const isPending = ({ state }: Pick<Instruction, 'state'>) => state === 'held' || state === 'waiting';

/** It is certain that the platform does not have it. */
export const isUnsent = (one: Pick<Instruction, 'state'>) => isPending(one) || one.state === 'failed';

/** An instruction that will never be sent any more. */
export const dropInstruction = (
  one: Instruction,
  outcome: 'notForAgent' | 'discarded' | 'withdrawn',
): Instruction => ({
  ...one,
  state: 'over',
  outcome,
});

/** Takes an instruction in. Its author is told that files do not go along. */
export function addInstruction(thread: ThreadRun, one: Instruction): ThreadRun {
  const next = { ...thread, instructions: [...thread.instructions, one] };
  return one.state === 'waiting' ? addFilesNote(next, one) : next;
}

/** Held instructions of `ids` that go out after all. */
export function releaseHeld(thread: ThreadRun, ids: readonly string[]): ThreadRun {
  const isTarget = ({ id, state }: Instruction) => state === 'held' && ids.includes(id);
  const released = mapInstructions(thread, (one) => (isTarget(one) ? { ...one, state: 'waiting' } : one));
  return thread.instructions.filter(isTarget).reduce(addFilesNote, released);
}

const addFilesNote = (thread: ThreadRun, { id, by, files, excerpt }: Instruction) =>
  files ? addNote(thread, { id: `files ${id}`, to: by.id, kind: 'files', about: id, excerpt }) : thread;

/** Follows no more. What is on its way or worked on stays as it is, since nothing can call it back. */
export const stopThread = (thread: ThreadRun, by: Person): ThreadRun =>
  endThread(thread, { why: 'stopped', by });

/** Ends a thread whose job was not made and will not be: nobody can send that instruction any more. */
export function endIfNotCreated(thread: ThreadRun): ThreadRun {
  if (thread.agentJobId !== undefined) return thread;
  const first = thread.instructions.find(({ creates }) => creates);
  const isUnsupported = thread.troubles.some(({ id, why }) => id === first?.id && why === 'unsupported');
  const isOpen =
    first !== undefined && first.state !== 'over' && !(first.state === 'failed' && isUnsupported);
  return isOpen ? thread : endThread(thread, { why: 'notMade' });
}

/** Ends a thread; what it still holds is not sent any more. */
export function endThread(
  thread: ThreadRun,
  why: Omit<NonNullable<ThreadRun['ended']>, 'unsent'>,
): ThreadRun {
  return {
    ...mapInstructions(thread, (one) => (isPending(one) ? dropInstruction(one, 'discarded') : one)),
    state: 'ended',
    ended: { ...why, unsent: thread.instructions.filter(isPending).length },
    lasting: false,
  };
}
