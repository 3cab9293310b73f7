import type { AgentJob } from '../../../docs-api/schemas.ts';
import {
  ENDINGS_KEPT,
  isSameSnapshot,
  type JobSnapshot,
  type RoundEnding,
  SENDS_KEPT,
  type WatchEnding,
  type WatchRun,
  watchId,
} from './record.ts';

/** Returns the watch of a job that has not been polled yet. */
export function newWatch(teamId: string, project: string, agentJobId: string, nowMs: number): WatchRun {
  return {
    id: watchId(teamId, project, agentJobId),
    teamId,
    job: 'agent-watch',
    rev: 1,
    people: [],
    lasting: true,
    project,
    agentJobId,
    threads: [],
    rounds: 0,
    endings: [],
    sends: [],
    nextPollAtMs: nowMs,
    pollRequested: true,
    untold: false,
  };
}

/** Adds a thread, which needs a poll. */
export function addThread(watch: WatchRun, threadId: string, nowMs: number): WatchRun {
  if (watch.threads.includes(threadId)) return watch;
  return { ...requestPoll(watch, nowMs), lasting: true, threads: [...watch.threads, threadId] };
}

/** Removes a thread. Without threads the record expires. */
export function removeThread(watch: WatchRun, threadId: string): WatchRun {
  if (!watch.threads.includes(threadId)) return watch;
  const threads = watch.threads.filter((id) => id !== threadId);
  return { ...watch, threads, lasting: threads.length > 0 };
}

/**
 * Plans a poll at once, or after a limit or failure has passed. If the last round was given up, a new round continues
 * it, so that its result is shown.
 */
export function requestPoll(watch: WatchRun, nowMs: number): WatchRun {
  const nextPollAtMs = watch.pollFailure?.nextMs ?? nowMs;
  const next: WatchRun = { ...watch, pollRequested: true, notFound: undefined, nextPollAtMs: nextPollAtMs };
  const last = watch.endings.at(-1);
  if (watch.round !== undefined || last?.kind !== 'gaveUp') return next;
  return openFoundRound(next, nowMs, last.prBefore);
}

/** Opens a round for an active job to which nobody here sent anything. */
function openFoundRound(watch: WatchRun, atMs: number, prBefore: string | undefined): WatchRun {
  const n = watch.rounds + 1;
  const round = { n, sinceMs: atMs, sentAtMs: atMs, active: true, prBefore, found: true };
  return { ...watch, rounds: n, round };
}

/**
 * Records that the platform took an instruction of `thread` at `atMs`. `job` is its answer, `sendKey` names the send,
 * `roundOf` returns its round: the open one or a new one. The thread knows about it, so only the others are woken. If
 * the send started the job (`creates`), all snapshots belong to it, even if it is recorded much later.
 */
export function recordSend(
  watch: WatchRun,
  thread: string,
  sendKey: string,
  job: AgentJob,
  atMs: number,
  creates = false,
): WatchRun {
  if (roundOf(watch, sendKey) !== undefined) return watch;
  const n = watch.round?.n ?? watch.rounds + 1;
  const prBefore = watch.round === undefined ? watch.lastPr : watch.round.prBefore;
  const round = {
    n,
    sinceMs: watch.round?.sinceMs ?? atMs,
    sentAtMs: Math.max(atMs, watch.round?.sentAtMs ?? 0),
    // Snapshots before this send say nothing about it; the answer to the send does.
    active: job.status === 'active',
    found: false,
    prBefore: creates ? undefined : prBefore,
  };
  // A send may be answered without a status; the previous snapshot then stays.
  const known = job.rawStatus === '' ? watch : applySnapshot(watch, job, atMs);
  const hasOthers = watch.threads.some((id) => id !== thread);
  // If all threads are to be woken for an earlier change, this one is included.
  const knownBy = watch.untold && watch.knownBy !== thread ? undefined : thread;
  return {
    ...known,
    notFound: undefined,
    round,
    rounds: n,
    sends: [...watch.sends, { of: sendKey, n }].slice(-SENDS_KEPT),
    // An open round already has a planned poll.
    nextPollAtMs:
      watch.round === undefined ? Math.max(watch.pollFailure?.nextMs ?? 0, atMs) : watch.nextPollAtMs,
    untold: watch.untold || hasOthers,
    knownBy,
  };
}

export const roundOf = (watch: WatchRun, sendKey: string) => watch.sends.find((one) => one.of === sendKey)?.n;

/**
 * Applies the result of a poll that began at `polledAtMs`. A round ends only if the job was seen active after its last
 * send, or `graceMs` after that: until then the platform may still show the previous state.
 */
export function applyPoll(watch: WatchRun, job: AgentJob, polledAtMs: number, graceMs: number): WatchRun {
  const next: WatchRun = {
    ...applySnapshot(watch, job, polledAtMs),
    pollRequested: false,
    pollFailure: undefined,
    notFound: undefined,
  };
  const { round } = watch;
  if (round === undefined)
    return job.status === 'active' ? markChanged(openFoundRound(next, polledAtMs, next.lastPr)) : next;
  if (job.status === 'archived') return endRound(next, round, endingOf(job, round.prBefore, polledAtMs));
  if (job.status === 'active') return { ...next, round: { ...round, active: true } };
  if (job.status === 'unknown') return next;
  const isFinal = round.active || polledAtMs - round.sentAtMs >= graceMs;
  return isFinal ? endRound(next, round, endingOf(job, round.prBefore, polledAtMs)) : next;
}

/** The platform does not know the job, or no longer knows it. */
export function markNotFound(watch: WatchRun, nowMs: number): WatchRun {
  const next = markChanged({ ...watch, notFound: true, pollRequested: false, pollFailure: undefined });
  return watch.round === undefined ? next : endRound(next, watch.round, { kind: 'gone', atMs: nowMs });
}

/** Ends a round that has lasted too long; the job is no longer polled. */
export function giveUpRound(watch: WatchRun, nowMs: number): WatchRun {
  const { round } = watch;
  const next = { ...watch, pollRequested: false };
  if (round === undefined) return next;
  const { sentAtMs, prBefore } = round;
  return endRound(next, round, { kind: 'gaveUp', afterMs: nowMs - sentAtMs, atMs: nowMs, prBefore });
}

/** Returns the watch with a failure, for which its threads are woken. It began at `nowMs`, unless it lasts already. */
export function applyFailure(
  watch: WatchRun,
  trouble: Omit<NonNullable<WatchRun['pollFailure']>, 'sinceMs'>,
  nowMs: number,
): WatchRun {
  const sinceMs = watch.pollFailure?.kind === trouble.kind ? watch.pollFailure.sinceMs : nowMs;
  return markChanged({ ...watch, pollFailure: { ...trouble, sinceMs }, nextPollAtMs: trouble.nextMs });
}

/** Marks a change for which every thread is woken. */
export const markChanged = (watch: WatchRun): WatchRun => ({ ...watch, untold: true, knownBy: undefined });

function endRound(
  watch: WatchRun,
  { n, found }: NonNullable<WatchRun['round']>,
  ending: Omit<WatchEnding, 'n' | 'found'>,
): WatchRun {
  const endings = [...watch.endings, { ...ending, n, found: found || undefined }].slice(-ENDINGS_KEPT);
  return markChanged({ ...watch, round: undefined, endings });
}

function endingOf(job: AgentJob, prBefore: string | undefined, atMs: number): RoundEnding {
  const { status, prLink, prText, archivedAt } = job;
  if (status === 'archived') return { kind: 'archived', archivedAtMs: archivedAt, atMs };
  if (status === 'failed') return { kind: 'failed', atMs };
  const pr = prLink ?? prText;
  if (pr === undefined) return { kind: 'noPr', atMs };
  return { kind: pr === prBefore ? 'samePr' : 'newPr', prLink, prText, atMs };
}

function applySnapshot(watch: WatchRun, job: AgentJob, atMs: number): WatchRun {
  const lastPr = job.prLink ?? job.prText ?? watch.lastPr;
  const seen = snapshotOf(job, watch.seen, atMs);
  const next: WatchRun = { ...watch, seen, lastPr };
  // An unchanged job is news only to a person who waits for the poll.
  return !isSameSnapshot(seen, watch.seen) || watch.pollRequested || watch.pollFailure !== undefined
    ? markChanged(next)
    : next;
}

/** Returns the job for messages. Fields that the platform leaves out while the agent works keep their value. */
function snapshotOf(job: AgentJob, before: JobSnapshot | undefined, atMs: number): JobSnapshot {
  const { status, rawStatus, repository, ref, model, prLink, prText, archivedAt } = job;
  return {
    status,
    rawStatus,
    repository: repository ?? before?.repository,
    ref: ref ?? before?.ref,
    model: model ?? before?.model,
    prLink: prLink ?? (prText === undefined ? before?.prLink : undefined),
    prText: prText ?? (prLink === undefined ? before?.prText : undefined),
    archivedAtMs: archivedAt,
    atMs,
  };
}
