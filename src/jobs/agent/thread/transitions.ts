import { markFinalAsks, settleAsks } from './digest-asks.ts';
import {
  type Ephemeral,
  hasUnsent,
  type Instruction,
  isJobRefused,
  isPending,
  type ThreadRun,
} from './record.ts';

/** More unposted ephemerals of one kind would repeat themselves to the same person. */
const MAX_EPHEMERALS_PER_KIND = 5;

/**
 * Adds an ephemeral, unless its id exists or this person has enough of its kind. A question is always added: held
 * replies wait for its answer.
 */
export function addEphemeral(thread: ThreadRun, ephemeral: Ephemeral): ThreadRun {
  const { id, to, kind } = ephemeral;
  if (thread.ephemerals.some((other) => other.id === id)) return thread;
  const alike = thread.ephemerals.filter((other) => other.to === to && other.kind === kind);
  if (kind !== 'question' && alike.length >= MAX_EPHEMERALS_PER_KIND) return thread;
  return { ...thread, ephemerals: [...thread.ephemerals, ephemeral] };
}

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

/** Drops the instructions that match; they are not sent. */
export const dropInstructions = (
  thread: ThreadRun,
  matches: (one: Instruction) => boolean,
  outcome: 'notForAgent' | 'discarded' | 'withdrawn',
): ThreadRun => updateInstructions(thread, matches, { state: 'over', outcome });

/** Adds an instruction. If it is not held, its author gets the ephemeral about files that the agent does not get. */
export function addInstruction(thread: ThreadRun, one: Instruction): ThreadRun {
  const next = { ...thread, instructions: [...thread.instructions, one] };
  return one.state === 'waiting' ? addFilesEphemeral(next, one) : next;
}

/** Releases the held instructions in `ids` for sending. */
export function releaseHeld(thread: ThreadRun, ids: readonly string[]): ThreadRun {
  const isReleased = ({ id, state }: Instruction) => state === 'held' && ids.includes(id);
  const released = updateInstructions(thread, isReleased, { state: 'waiting' });
  return thread.instructions.filter(isReleased).reduce(addFilesEphemeral, released);
}

const addFilesEphemeral = (thread: ThreadRun, { id, by, files }: Instruction) =>
  files ? addEphemeral(thread, { id: `files ${id}`, to: by.id, kind: 'files' }) : thread;

/** Asks the author whether a reply is for the agent. */
export const askAuthor = (thread: ThreadRun, { id, by, excerpt }: Instruction): ThreadRun =>
  addEphemeral(thread, { id: `question ${id}`, to: by.id, kind: 'question', about: id, excerpt });

/** Drops all unsent instructions of one person. An ephemeral says so, and names the contact. */
export function dropAuthor(thread: ThreadRun, userId: string, ask: string): ThreadRun {
  const isDropped = (one: Instruction) => isPending(one) && one.by.id === userId;
  return addEphemeral(dropInstructions(thread, isDropped, 'discarded'), {
    id: `noLongerAllowed ${thread.instructions.find(isDropped)?.id}`,
    to: userId,
    kind: 'noLongerAllowed',
    about: ask,
  });
}

/** Ends a thread and drops unsent instructions. The platform finishes the others. */
export function endThread(
  thread: ThreadRun,
  ended: Omit<NonNullable<ThreadRun['ended']>, 'unsent'>,
): ThreadRun {
  const unsent = thread.instructions.filter(isPending).length;
  return {
    ...dropInstructions(thread, isPending, 'discarded'),
    state: 'ended',
    ended: { ...ended, unsent },
    lasting: false,
  };
}

/** Ends a thread whose job can no longer be made, because its first instruction is finished or cannot succeed. */
export function endIfNotCreated(thread: ThreadRun): ThreadRun {
  if (thread.agentJobId !== undefined) return thread;
  const first = thread.instructions.find(({ creates }) => creates);
  const isRefused = thread.sendProblems.some((trouble) => trouble.id === first?.id && isJobRefused(trouble));
  const isOpen = first !== undefined && first.state !== 'over' && !(first.state === 'failed' && isRefused);
  return isOpen ? thread : endThread(thread, { why: isRefused ? 'jobRefused' : 'notMade' });
}

// Limits the size of a thread's record: a thread may live for years, and there may be thousands.

/** Finished instructions that are kept: their messages may still be edited or deleted. */
export const MAX_FINISHED = 30;

/** Final rounds and failures that are kept for clicks on their buttons. */
const MAX_FINAL_ROUNDS = 3;
const MAX_FINAL_FAILURES = 20;

/**
 * Sorts the instructions: first those sent or finished, then the pending ones by time. Keeps the latest finished ones
 * without text. The last one of the newest round keeps its text while that round is open or has failed, so that it can
 * be resent. The one that created the job keeps it until its message is published.
 */
export function compact(before: ThreadRun): ThreadRun {
  const thread = settleAsks(before);
  const { last, ending } = thread.rounds.findLast((round) => round.last !== undefined) ?? {};
  const retryable = ending === undefined || ending.kind === 'failed' ? last?.id : undefined;
  const past = thread.instructions.filter((one) => !isPending(one));
  const pending = thread.instructions.filter(isPending).toSorted(byWrittenAt);
  const finished = past.filter(isFinished);
  const isUnpublished = ({ creates }: Instruction) =>
    creates && thread.title !== undefined && !thread.titleShown;
  const spent = finished.filter((one) => one.id !== retryable && !isUnpublished(one));
  // The end of a thread without a job depends on the instruction that was to create it.
  const droppable = spent.filter(({ creates }) => !creates);
  const dropped = new Set(droppable.slice(0, Math.max(0, finished.length - MAX_FINISHED)));
  const kept = past
    .filter((one) => !dropped.has(one))
    .map((one) => (spent.includes(one) && one.text !== '' ? { ...one, text: '' } : one));
  return { ...thread, instructions: [...kept, ...pending] };
}

/** The end of a round finishes its instructions. */
const isFinished = ({ state, round }: Instruction) =>
  state === 'over' || (state === 'working' && round !== undefined);

const byWrittenAt = (one: Instruction, other: Instruction) =>
  one.atMs - other.atMs || (one.id < other.id ? -1 : Number(one.id > other.id));

/**
 * Returns the thread without its final messages. A final message must not be published again: its record expires before
 * the thread's, so it would be posted a second time.
 */
export function withoutFinal(thread: ThreadRun): ThreadRun {
  return {
    ...thread,
    rounds: thread.rounds.filter(({ final: isFinal }) => !isFinal),
    sendProblems: thread.sendProblems.filter(
      ({ final: isFinal, answer }) => !isFinal || answer !== undefined,
    ),
    digestAsks: thread.digestAsks.filter(({ final: isFinal }) => !isFinal),
  };
}

/** Marks final parts once all messages are published, and drops the oldest ones. */
export function markFinal(thread: ThreadRun): ThreadRun {
  const rounds = thread.rounds
    .map((round) => (round.ending === undefined ? round : { ...round, final: true }))
    .slice(-MAX_FINAL_ROUNDS);
  const open = thread.sendProblems.filter(({ answer }) => answer === undefined);
  const questions = open.filter(({ why }) => why === 'unknown');
  const failures = open.filter(({ why }) => why !== 'unknown').slice(-MAX_FINAL_FAILURES);
  const isLost = ({ id, attempt, state }: Instruction) =>
    state === 'failed' && !failures.some((failure) => failure.id === id && failure.attempt === attempt);
  const final = {
    ...updateInstructions(thread, isLost, { state: 'over' }),
    titleShown: thread.title === undefined ? undefined : true,
    rounds,
    sendProblems: [...questions, ...failures.map((failure) => ({ ...failure, final: true }))],
    digestAsks: markFinalAsks(thread),
    limit: hasUnsent(thread) ? thread.limit : undefined,
    retry: hasUnsent(thread) && !thread.retry?.expired ? thread.retry : undefined,
  };
  return JSON.stringify(final) === JSON.stringify(thread) ? thread : final;
}
