import {
  addEphemeral,
  type Instruction,
  isFinished,
  isHeldReply,
  isPending,
  type RoundEnding,
  type ThreadRun,
} from './record.ts';

/** Changes the instructions that match; returns the same thread if none does. */
export function updateInstructions(
  thread: ThreadRun,
  matches: (one: Instruction) => boolean,
  changes: Partial<Instruction>,
): ThreadRun {
  if (!thread.instructions.some(matches)) return thread;
  const instructions = thread.instructions.map((one) => (matches(one) ? { ...one, ...changes } : one));
  return { ...thread, instructions };
}

export const updateInstruction = (thread: ThreadRun, id: string, changes: Partial<Instruction>): ThreadRun =>
  updateInstructions(thread, (one) => one.id === id, changes);

/** Adds an instruction. If it waits, its author gets the ephemeral about files that the agent does not get. */
export function addInstruction(thread: ThreadRun, one: Instruction): ThreadRun {
  const next = { ...thread, instructions: [...thread.instructions, one] };
  return one.state === 'waiting' ? addFilesEphemeral(next, one) : next;
}

/** Releases the held instructions in `ids` for sending. */
export function releaseHeld(thread: ThreadRun, ids: readonly string[]): ThreadRun {
  const isReleased = (one: Instruction) => isHeldReply(one) && ids.includes(one.id);
  const released = updateInstructions(thread, isReleased, { state: 'waiting' });
  return thread.instructions.filter(isReleased).reduce(addFilesEphemeral, released);
}

const addFilesEphemeral = (thread: ThreadRun, { id, by, files }: Instruction) =>
  files ? addEphemeral(thread, { id: `files ${id}`, to: by.id, kind: 'files' }) : thread;

/** Ends a thread and drops unsent instructions. The platform finishes the others. */
export function endThread(
  thread: ThreadRun,
  ended: Omit<NonNullable<ThreadRun['ended']>, 'unsent'>,
): ThreadRun {
  const unsent = thread.instructions.filter(isPending).length;
  return {
    ...updateInstructions(thread, isPending, { state: 'discarded' }),
    state: 'ended',
    ended: { ...ended, unsent },
    permanent: false,
  };
}

/**
 * How an instruction from a digest ended: as its round, or otherwise. `notSent`: the platform does not have it ·
 * `unknown`: the result is unknown · `stopped`: the thread no longer follows the job.
 */
export type AskEnding = Omit<RoundEnding, 'kind' | 'atMs'> & {
  kind: RoundEnding['kind'] | 'notSent' | 'unknown' | 'stopped';
};

/** Returns how an instruction from a digest ended; undefined while it is open. A failed one may still be sent again. */
export function askEnding(thread: ThreadRun, one: Instruction): AskEnding | undefined {
  if (one.ending !== undefined) return one.ending;
  if (isFinished(one)) return { kind: one.state === 'left' ? 'unknown' : 'notSent' };
  if (one.state === 'failed') return { kind: 'notSent' };
  if (thread.state !== 'ended' || one.state === 'sending') return undefined;
  return { kind: one.state === 'unknown' ? 'unknown' : 'stopped' };
}

/** Whether that ending cannot change. */
export const isAskFinal = (thread: ThreadRun, one: Instruction) =>
  askEnding(thread, one) !== undefined && (one.state !== 'failed' || thread.state === 'ended');
