import { isDeepStrictEqual } from 'node:util';
import type { ExportJob } from '../../docs-api/schemas.ts';
import { MAX_SNAPSHOTS } from '../polling.ts';
import { type Ending, type ExportRun, exportClaim, fractionOf, isPrivate, isRetracted } from './record.ts';

/** Returns the run with these changes, and the time at which its state began. */
export function advance(run: ExportRun, changes: Partial<ExportRun>, nowMs: number): ExportRun {
  const isNewState = changes.state !== undefined && changes.state !== run.state;
  return { ...run, ...(isNewState && { sinceMs: nowMs }), ...changes };
}

/** Returns the run with its ending. A new link takes the place of the one whose message it edits. */
export function endRun(run: ExportRun, ending: Ending, nowMs: number): ExportRun {
  const replaced = ending.kind === 'done' && run.earlier?.resumed === run.resumed;
  return { ...run, state: 'ended', sinceMs: nowMs, ending, ...(replaced && { earlier: undefined }) };
}

/** Returns the run with a failure, after which its step is retried. */
export const withFailure = (run: ExportRun, trouble: NonNullable<ExportRun['pollFailure']>): ExportRun => ({
  ...run,
  pollFailure: trouble,
  nextPollAtMs: trouble.nextMs,
});

/** A number below one may mean a fraction or less than one percent. From this poll on, it counts as a fraction. */
const UNSURE_SNAPSHOTS = 3;

/**
 * Returns the run with the result of one poll, and whether its last progress is `stalledAfterMs` ago. Fields that the
 * platform leaves out keep their value. A run that never reports progress cannot stall.
 */
export function applySnapshot(
  before: ExportRun,
  job: ExportJob,
  atMs: number,
  stalledAfterMs: number,
): ExportRun {
  const { fraction, unsure } = job.progress ?? {};
  const isKnown = fraction !== undefined && (!unsure || before.snapshots.length >= UNSURE_SNAPSHOTS);
  const snapshot = { atMs, ...(isKnown && { fraction }) };
  const run: ExportRun = {
    ...before,
    status: job.status === 'unknown' ? job.rawStatus : job.status,
    progressText: job.progress?.text ?? before.progressText,
    pageCount: job.pageCount ?? before.pageCount,
    snapshots: [...before.snapshots, snapshot].slice(-MAX_SNAPSHOTS),
    // For an export not started here, the platform gives the start.
    ...(before.joined && job.createdAt !== undefined && { startedAtMs: job.createdAt }),
    pollRequested: undefined,
    pollFailure: undefined,
  };
  const progressOf = (one: ExportRun) => [one.progressText, one.pageCount, fractionOf(one)];
  const isUnchanged = run.status === before.status && isDeepStrictEqual(progressOf(run), progressOf(before));
  const reportsProgress = run.status === 'queued' || progressOf(run).some((one) => one !== undefined);
  const movedAtMs = isUnchanged ? (before.movedAtMs ?? atMs) : atMs;
  return { ...run, movedAtMs, stalled: reportsProgress && atMs - movedAtMs >= stalledAfterMs };
}

/** What a button may do to a run. Returns undefined if the run has moved on since the button was shown. */
export type Transition = (
  run: ExportRun,
  by: { id: string; name: string },
  nowMs: number,
) => ExportRun | undefined;

/** Fields that no further attempt, watch or link keeps. */
const resetFields = {
  pollFailure: undefined,
  stalled: undefined,
  ending: undefined,
  alone: undefined,
  audited: undefined,
};

/** Starts the same request once more. A run that was only watched is now started from here. */
function restart(run: ExportRun, nowMs: number): ExportRun {
  return {
    ...run,
    joined: false,
    ...(!isRetracted(run) && { kept: true as const }),
    ...(run.joined && { claim: exportClaim(run) }),
    earlier: undefined,
    attempt: run.attempt + 1,
    relinked: 0,
    state: 'postingCard',
    sinceMs: nowMs,
    attemptAtMs: nowMs,
    nextPollAtMs: nowMs,
    snapshots: [],
    jobId: undefined,
    unknownJobId: undefined,
    startedAtMs: undefined,
    status: undefined,
    progressText: undefined,
    pageCount: undefined,
    movedAtMs: undefined,
    completedAtMs: undefined,
    ...resetFields,
  };
}

/** Watches the same export job once more. */
function resumeWatch(run: ExportRun, state: 'watching' | 'bundling', nowMs: number): ExportRun {
  const times = { sinceMs: nowMs, nextPollAtMs: nowMs, movedAtMs: nowMs };
  const privately = isPrivate(run);
  return { ...run, ...resetFields, ...times, privately, kept: true, resumed: run.resumed + 1, state };
}

/** Requests a further link for a completed export. */
function relink(run: ExportRun, nowMs: number): ExportRun {
  const times = { sinceMs: nowMs, nextPollAtMs: nowMs };
  const earlier = run.ending?.kind === 'done' ? { resumed: run.resumed, ending: run.ending } : undefined;
  const next = { ...run, ...resetFields, ...times, privately: isPrivate(run), earlier };
  return { ...next, relinked: run.relinked + 1, state: 'bundling' };
}

/** More mentions in one message would be noise. */
export const MAX_WATCHERS = 20;

/** A click on [Refresh] is answered by a poll of at most this age. */
const FRESH_SNAPSHOT_MS = 2000;

export const isMentioned = (run: ExportRun, userId: string) =>
  [run.requester, ...run.watchers].some(({ id }) => id === userId);

/** A person's answer to the question whether this attempt started. */
const answerOf = (
  { attempt }: ExportRun,
  { id, name }: { id: string; name: string },
  action: 'watchIt' | 'startAgain' | 'leave',
) => ({ attempt, by: name, byId: id, action });

/** The start was unknown and a person found its job. Returns undefined if the run has moved on. */
export function adoptJobId(
  run: ExportRun,
  jobId: string,
  by: { id: string; name: string },
  nowMs: number,
): ExportRun | undefined {
  if (run.state !== 'unknown') return undefined;
  return {
    ...advance(run, { state: 'watching', jobId, startedAtMs: run.attemptAtMs, nextPollAtMs: nowMs }, nowMs),
    pollFailure: undefined,
    unknownJobId: undefined,
    answer: answerOf(run, by, 'watchIt'),
  };
}

/** Whether a person entered the job id and no poll has confirmed it yet. */
export const isUnconfirmedJobId = ({ answer, attempt, snapshots: looks }: ExportRun) =>
  answer?.action === 'watchIt' && answer.attempt === attempt && looks.length === 0;

/** The platform does not know the entered job, so the start is unknown again. */
export const reopenQuestion = (run: ExportRun, nowMs: number): ExportRun => ({
  ...advance(run, { state: 'unknown', nextPollAtMs: nowMs }, nowMs),
  jobId: undefined,
  unknownJobId: run.jobId,
  startedAtMs: undefined,
  pollFailure: undefined,
  pollRequested: undefined,
  answer: undefined,
});

/** What the buttons do, by name. */
export const transitions = {
  startAgain: (run, by, nowMs) =>
    run.state === 'unknown' ? { ...restart(run, nowMs), answer: answerOf(run, by, 'startAgain') } : undefined,
  leave: (run, by, nowMs) =>
    run.state === 'unknown'
      ? { ...endRun(run, { kind: 'left' }, nowMs), answer: answerOf(run, by, 'leave') }
      : undefined,
  /** It failed or did not start: starts it once more. */
  tryAgain: (run, _by, nowMs) =>
    run.state === 'ended' &&
    run.domain !== '' &&
    (['failed', 'notStarted', 'lost'].includes(run.ending?.kind ?? '') ||
      (run.ending?.kind === 'broken' && run.jobId === undefined))
      ? restart(run, nowMs)
      : undefined,
  /** Resumes a watch that ended before the job, or a link that could not be made. */
  checkNow: (run, _by, nowMs) => {
    if (run.state !== 'ended') return undefined;
    const { ending } = run;
    if (ending?.kind === 'noLink') return resumeWatch(run, 'bundling', nowMs);
    const canResume = ending?.kind === 'gaveUp' || (ending?.kind === 'broken' && run.jobId !== undefined);
    return canResume ? resumeWatch(run, 'watching', nowMs) : undefined;
  },
  /** Replaces a link that expires or has expired. */
  newLink: (run, _by, nowMs) =>
    run.state === 'ended' && run.ending?.kind === 'done' ? relink(run, nowMs) : undefined,
  /** Mentions one more person in the ending. */
  notify: (run, by) => {
    if (run.state === 'ended' || isMentioned(run, by.id) || run.watchers.length >= MAX_WATCHERS)
      return undefined;
    const watchers = [...run.watchers, { id: by.id, name: by.name }];
    return { ...run, watchers, people: [...new Set([...run.people, by.id])] };
  },
  /** Polls at once, unless the last poll was just now or the limit is reached. */
  refresh: (run, _by, nowMs) => {
    const { pollFailure: trouble } = run;
    const isLimited = trouble?.kind === 'limit' && trouble.nextMs > nowMs;
    const isFresh = trouble === undefined && nowMs - (run.snapshots.at(-1)?.atMs ?? 0) <= FRESH_SNAPSHOT_MS;
    if (run.state !== 'watching' || isLimited || isFresh) return undefined;
    return { ...run, nextPollAtMs: nowMs, pollRequested: true };
  },
} satisfies Record<string, Transition>;
export type TransitionName = keyof typeof transitions;
