import type { AgentJob } from '../../../docs-api/schemas.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { Quota } from '../../../store/runs.ts';
import { threadClaim } from '../../../store/threads.ts';
import type { Limits } from '../../limits.ts';
import {
  type Ephemeral,
  findInstruction,
  type Instruction,
  isJobRefused,
  isOver,
  isPending,
  type JobSnapshot,
  newInstruction,
  openRoundOf,
  type RoundEnding,
  type SendProblem,
  type ThreadRound,
  type ThreadRun,
  threadRun,
} from './record.ts';

/** The input for a new thread. Without `agentJobId` its instruction starts the job. */
type NewThread = Pick<ThreadRun, 'id' | 'teamId' | 'project' | 'agentJobId' | 'owner' | 'asked' | 'mode'> & {
  checked?: boolean;
  /** The owner's first instruction; one without text is left out. */
  instruction?: Pick<Instruction, 'id' | 'text'> & Partial<Instruction>;
};

/** Returns the limit for follow-ups of a project in any hour, shared by all processes. */
export const followUpLimit = (project: string, perHour: number): RateLimit => ({
  name: `follow-ups:${project}`,
  count: perHour,
  windowMs: 3_600_000,
  perId: true,
});

/** The quota of a thread that follows a job: its owner's. */
export const threadQuotas = (
  { teamId, owner }: Pick<ThreadRun, 'teamId' | 'owner'>,
  { threadsPerPerson }: Pick<Limits, 'threadsPerPerson'>,
): [Quota] => [{ name: ['threads', teamId, owner.id].join(':'), max: threadsPerPerson }];

/** Returns the record of a new thread. In an existing Slack thread it claims that place. */
export function newThread({ instruction: one, ...thread }: NewThread, nowMs: number): ThreadRun {
  const { teamId, owner, asked, agentJobId } = thread;
  const { channel, rootTs } = asked;
  const creates = agentJobId === undefined;
  const first = one?.text ? newInstruction({ by: owner, atMs: nowMs, creates, ...one }) : undefined;
  return threadRun.parse({
    ...{ job: 'agent-thread', rev: 1, people: [owner.id], lasting: true, checked: true },
    ...(rootTs !== undefined && { claim: threadClaim({ teamId, channel, rootTs }) }),
    ...thread,
    inDirectMessage: channel === '',
    state: 'accepted',
    sinceMs: nowMs,
    nextPollAtMs: nowMs,
    pollRequested: !creates,
    instructions: first === undefined ? [] : [first],
    ...(creates && { title: first?.excerpt }),
  });
}

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

/** Adds an instruction. If it waits, its author gets the ephemeral about files that the agent does not get. */
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

/** Drops all unsent instructions of one person. An ephemeral says so, and names the contact. */
export function dropAuthor(thread: ThreadRun, userId: string, contact: string): ThreadRun {
  const isDropped = (one: Instruction) => isPending(one) && one.by.id === userId;
  return addEphemeral(updateInstructions(thread, isDropped, { state: 'discarded' }), {
    id: `noLongerAllowed ${thread.instructions.find(isDropped)?.id}`,
    to: userId,
    kind: 'noLongerAllowed',
    about: contact,
  });
}

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
    lasting: false,
  };
}

/** Ends a thread whose job can no longer be made, because its first instruction is over or cannot succeed. */
export function endIfNotCreated(thread: ThreadRun): ThreadRun {
  if (thread.agentJobId !== undefined || thread.state === 'ended') return thread;
  const first = thread.instructions.find(({ creates }) => creates);
  const isRefused = thread.sendProblems.some((trouble) => trouble.id === first?.id && isJobRefused(trouble));
  const isOpen = first !== undefined && !isOver(first) && !(first.state === 'failed' && isRefused);
  return isOpen ? thread : endThread(thread, { why: isRefused ? 'jobRefused' : 'notMade' });
}

/** The result of one send. */
export type SendResult =
  | { kind: 'taken'; job: AgentJob }
  /** Nobody knows whether it arrived, or it certainly did not, and people have to know why. */
  | { kind: 'problem'; problem: Pick<SendProblem, 'why' | 'reason' | 'adminsTold' | 'archivedAtMs'> }
  /** It certainly did not arrive, and is sent later. */
  | { kind: 'later'; limit?: NonNullable<ThreadRun['limit']>; retry?: NonNullable<ThreadRun['retry']> };

/** Records the result of a send. If the attempt already has a result or a successor, nothing changes. */
export function applySendResult(
  thread: ThreadRun,
  { id, attempt }: Pick<Instruction, 'id' | 'attempt'>,
  result: SendResult,
  nowMs: number,
): ThreadRun {
  const sent = findInstruction(thread, id);
  // If it counts as unknown already, the answer came too late: its author has been asked.
  if (sent?.attempt !== attempt || sent.state !== 'sending') return thread;
  const next: ThreadRun = { ...thread, retry: thread.retry && { ...thread.retry, expired: true } };
  switch (result.kind) {
    case 'taken': {
      const { job } = result;
      const taken: ThreadRun = {
        ...next,
        agentJobId: thread.agentJobId ?? job.id,
        notFound: undefined,
        // A send may be answered without a status; the previous snapshot then stays.
        seen: job.rawStatus === '' ? thread.seen : snapshotOf(job, thread.seen, sent.sentAtMs ?? nowMs),
      };
      const working = updateInstruction(taken, id, { state: 'working' });
      if (thread.state === 'ended') return working;
      const isActive = job.status === 'active';
      return addToRound(addSend(working, { sentAtMs: nowMs, isActive }, pullRequestOf(thread)), sent);
    }
    case 'problem': {
      const { by, excerpt, creates } = sent;
      const { problem } = result;
      const sendProblems = [...next.sendProblems, { id, attempt, by, excerpt, creates, ...problem }];
      const state = problem.why === 'unknown' ? 'unknown' : 'failed';
      return updateInstruction({ ...next, sendProblems }, id, { state });
    }
    case 'later': {
      const { limit = thread.limit, retry = thread.retry } = result;
      return updateInstruction({ ...next, limit, retry }, id, { state: 'waiting', sentAtMs: undefined });
    }
  }
}

/**
 * Returns a newer snapshot. A field that the platform leaves out keeps its value. But if a completed job names no pull
 * request, the snapshot has none.
 */
function snapshotOf(job: AgentJob, before: JobSnapshot | undefined, atMs: number): JobSnapshot {
  const { status, rawStatus, repository, ref, model, prLink, archivedAt } = job;
  return {
    status,
    rawStatus,
    repository: repository ?? before?.repository,
    ref: ref ?? before?.ref,
    model: model ?? before?.model,
    prLink: status === 'completed' ? prLink : (prLink ?? before?.prLink),
    archivedAtMs: archivedAt,
    atMs,
  };
}

/** Returns the job's last known pull request. A completed job that changed no file names none. */
function pullRequestOf({ seen, rounds }: ThreadRun): string | undefined {
  const { ending, prBefore } = rounds.at(-1) ?? {};
  return seen?.prLink ?? ending?.prLink ?? prBefore;
}

/** Adds a send of this thread or another one to the open round, or opens one, whose first poll is due at once. */
export function addSend(
  thread: ThreadRun,
  send: Pick<ThreadRound, 'sentAtMs' | 'isActive'>,
  prBefore = pullRequestOf(thread),
): ThreadRun {
  const open = openRoundOf(thread);
  if (open !== undefined) return putRound(thread, { ...open, ...send, found: undefined });
  const nextPollAtMs = Math.max(thread.pollFailure?.nextMs ?? 0, send.sentAtMs);
  return putRound(
    { ...thread, nextPollAtMs },
    newRound(thread, { sinceMs: send.sentAtMs, prBefore, ...send }),
  );
}

/** Adds a sent instruction to the open round. */
function addToRound(thread: ThreadRun, { id, by, excerpt }: Instruction): ThreadRun {
  const open = openRoundOf(thread);
  if (open === undefined) return thread;
  const round: ThreadRound = {
    ...open,
    count: open.count + 1,
    last: { id, by, excerpt },
    authors: open.authors.some((author) => author.id === by.id) ? open.authors : [...open.authors, by],
  };
  return updateInstruction(putRound(thread, round), id, { round: round.n });
}

function newRound(
  { rounds }: ThreadRun,
  { sinceMs, ...more }: Pick<ThreadRound, 'sinceMs'> & Partial<ThreadRound>,
): ThreadRound {
  return { n: (rounds.at(-1)?.n ?? 0) + 1, sinceMs, sentAtMs: sinceMs, count: 0, authors: [], ...more };
}

const putRound = (thread: ThreadRun, round: ThreadRound): ThreadRun => ({
  ...thread,
  rounds: [...thread.rounds.filter(({ n }) => n !== round.n), round],
});

/** Applies a poll that began at `atMs`: the job's state, the end of the open round, or a round from elsewhere. */
export function applyPoll(thread: ThreadRun, job: AgentJob, atMs: number, graceMs: number): ThreadRun {
  const seen = snapshotOf(job, thread.seen, atMs);
  const known = { notFound: undefined, pollFailure: undefined, pollRequested: false };
  const next: ThreadRun = { ...thread, ...known, seen };
  const open = openRoundOf(thread) ?? foundRound(thread, seen);
  if (open === undefined) return next;
  const round = { ...open, isActive: open.isActive || seen.status === 'active' };
  return isWorkOver(round, seen, graceMs)
    ? endRound(next, round, endingOf(seen, round.prBefore))
    : putRound(next, round);
}

/**
 * Whether a snapshot shows the end of a round's work: the job was seen active after the last send, or `graceMs` have
 * passed. Until then the platform may still show the previous state.
 */
function isWorkOver({ sentAtMs, isActive }: ThreadRound, { status, atMs }: JobSnapshot, graceMs: number) {
  if (status !== 'completed' && status !== 'failed') return status === 'archived';
  return isActive || atMs - sentAtMs >= graceMs;
}

/** Ends the polls, and the open round: the platform does not know the job, or the agent has worked for too long. */
export function stopPolls(thread: ThreadRun, kind: 'gone' | 'gaveUp', atMs: number): ThreadRun {
  const next: ThreadRun = { ...thread, pollRequested: false };
  if (kind === 'gone') Object.assign(next, { notFound: true, pollFailure: undefined });
  const round = openRoundOf(thread);
  const afterMs = kind === 'gaveUp' && round ? atMs - round.sentAtMs : undefined;
  return round ? endRound(next, round, { kind, afterMs, atMs }) : next;
}

/**
 * Returns a round in which this thread sent nothing, if the job is active; or the last one again if it was given up, so
 * that its result is shown.
 */
function foundRound(thread: ThreadRun, { status, atMs }: JobSnapshot): ThreadRound | undefined {
  const last = thread.rounds.at(-1);
  const found = { sentAtMs: atMs, isActive: true, found: true };
  if (last?.ending?.kind === 'gaveUp' && status !== 'unknown') {
    const { sinceMs, prBefore, authors } = last;
    return newRound(thread, { ...found, sinceMs, prBefore, authors });
  }
  if (status !== 'active') return undefined;
  return newRound(thread, {
    ...found,
    sinceMs: atMs,
    authors: [thread.owner],
    prBefore: pullRequestOf(thread),
  });
}

function endRound(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): ThreadRun {
  const instructions = thread.instructions.map((one): Instruction => {
    if (one.state !== 'working' || one.round !== round.n) return one;
    return { ...one, state: 'sent', ...(one.origin && { ending }) };
  });
  return putRound({ ...thread, instructions }, { ...round, ending });
}

function endingOf(seen: JobSnapshot, prBefore: string | undefined): RoundEnding {
  const { status, archivedAtMs, prLink, atMs } = seen;
  if (status === 'archived') return { kind: 'archived', archivedAtMs, atMs };
  if (status === 'failed') return { kind: 'failed', atMs };
  if (prLink === undefined) return { kind: 'noPr', atMs };
  return { kind: prLink === prBefore ? 'samePr' : 'newPr', prLink, atMs };
}

/**
 * How an instruction from a digest ended: as its round, or else. `notSent`: the platform does not have it · `unknown`: the
 * result is unknown · `stopped`: the thread no longer follows the job.
 */
export type AskEnding = RoundEnding | { kind: 'notSent' | 'unknown' | 'stopped' };

/** Returns how an instruction from a digest ended; undefined while it is open. A failed one may still be sent again. */
export function askEnding(thread: ThreadRun, one: Instruction): AskEnding | undefined {
  if (one.ending !== undefined) return one.ending;
  if (isOver(one)) return { kind: one.state === 'left' ? 'unknown' : 'notSent' };
  if (one.state === 'failed') return { kind: 'notSent' };
  if (thread.state !== 'ended' || one.state === 'sending') return undefined;
  return { kind: one.state === 'unknown' ? 'unknown' : 'stopped' };
}

/** Whether that ending cannot change. */
export const isAskSettled = (thread: ThreadRun, one: Instruction) =>
  askEnding(thread, one) !== undefined && (one.state !== 'failed' || thread.state === 'ended');
