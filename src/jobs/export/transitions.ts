import { isDeepStrictEqual } from 'node:util';
import type { ExportJob } from '../../docs-api/schemas.ts';
import { type Ending, type ExportRun, exportClaim, isRetracted } from './record.ts';

/** Returns the run in its next state. */
export const advance = (
  run: ExportRun,
  changes: Partial<ExportRun> & Pick<ExportRun, 'state'>,
  nowMs: number,
): ExportRun => ({ ...run, sinceMs: nowMs, nextPollAtMs: nowMs, ...changes });

/** Returns the run with its ending. A new link takes the place of the one whose message it edits. */
export function endRun(run: ExportRun, ending: Ending, nowMs: number): ExportRun {
  const replaced = ending.kind === 'done' && run.earlier?.resumed === run.resumed;
  return { ...run, state: 'ended', sinceMs: nowMs, ending, ...(replaced && { earlier: undefined }) };
}

/** A number below one may mean a fraction or less than one percent. From this poll on, it counts as a fraction. */
const UNSURE_POLLS = 3;

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
  const isKnown = fraction !== undefined && (!unsure || before.polls >= UNSURE_POLLS);
  const run: ExportRun = {
    ...before,
    status: job.status === 'unknown' ? job.rawStatus : job.status,
    progressText: job.progress?.text ?? before.progressText,
    pageCount: job.pageCount ?? before.pageCount,
    ...(isKnown && { fraction }),
    ...{ polls: before.polls + 1, polledAtMs: atMs },
    // For an export not started here, the platform gives the start.
    ...(before.joined && job.createdAt !== undefined && { startedAtMs: job.createdAt }),
    pollRequested: undefined,
    pollFailure: undefined,
  };
  const progressOf = (one: ExportRun) => [one.progressText, one.pageCount, one.fraction];
  const isUnchanged = run.status === before.status && isDeepStrictEqual(progressOf(run), progressOf(before));
  const reportsProgress = run.status === 'queued' || progressOf(run).some((one) => one !== undefined);
  const movedAtMs = isUnchanged ? (before.movedAtMs ?? atMs) : atMs;
  return { ...run, movedAtMs, stalled: reportsProgress && atMs - movedAtMs >= stalledAfterMs };
}

type By = { id: string; name: string };

/** What a run knows of a job, before it knows any. */
const noJob = {
  ...{ jobId: undefined, startedAtMs: undefined, completedAtMs: undefined, status: undefined },
  ...{ progressText: undefined, pageCount: undefined, fraction: undefined, polls: 0, polledAtMs: undefined },
  ...{ movedAtMs: undefined, stalled: undefined, pollRequested: undefined, pollFailure: undefined },
};

/** Starts the same request once more. A run that was only watched is now started from here. */
const restart = (run: ExportRun, nowMs: number): ExportRun => ({
  ...advance(run, { ...noJob, state: 'postingCard', attemptAtMs: nowMs }, nowMs),
  ...{ unknownJobId: undefined, ending: undefined, earlier: undefined },
  claim: run.joined ? exportClaim(run.teamId, run) : run.claim,
  joined: false,
  kept: run.kept || !isRetracted(run) || undefined,
  attempt: run.attempt + 1,
  relinked: 0,
});

/** Watches the same job once more, or requests a link. If only the requester got the link, later ones are private too. */
const resume = (run: ExportRun, changes: Parameters<typeof advance>[1], nowMs: number): ExportRun => ({
  ...advance(run, { movedAtMs: nowMs, pollFailure: undefined, stalled: undefined, ...changes }, nowMs),
  ending: undefined,
  privately: run.privately || (run.ending?.kind === 'done' && run.ending.privately === true),
});

/** Requests a further link, whose message replaces that of the present one. */
export const relink = (run: ExportRun, nowMs: number): ExportRun => {
  const earlier = run.ending?.kind === 'done' ? { resumed: run.resumed, ending: run.ending } : run.earlier;
  return resume(run, { state: 'bundling', earlier, relinked: run.relinked + 1 }, nowMs);
};

/** More mentions in one message would be noise. */
export const MAX_WATCHERS = 20;

/** A click on [Refresh] is answered by a poll of at most this age. */
const FRESH_POLL_MS = 2000;

export const isMentioned = (run: ExportRun, userId: string) =>
  [run.requester, ...run.watchers].some(({ id }) => id === userId);

/** Applies a person's answer to the question whether this attempt started. */
const withAnswer = (
  run: ExportRun,
  { attempt }: ExportRun,
  { id: byId, name: by }: By,
  action: 'watchIt' | 'startAgain' | 'leave',
): ExportRun => ({ ...run, answer: { attempt, by, byId, action } });

/** The start was unknown and a person found its job. */
export function adoptJobId(run: ExportRun, jobId: string, by: By, nowMs: number): ExportRun {
  const known = { jobId, startedAtMs: run.attemptAtMs, unknownJobId: undefined, pollFailure: undefined };
  return withAnswer(advance(run, { state: 'watching', ...known }, nowMs), run, by, 'watchIt');
}

/** Whether a person entered the job id and no poll has confirmed it yet. */
export const isUnconfirmedJobId = ({ answer, attempt, polls }: ExportRun) =>
  answer?.action === 'watchIt' && answer.attempt === attempt && polls === 0;

/** The platform does not know the entered job, so the start is unknown again. */
export const reopenQuestion = (run: ExportRun, nowMs: number): ExportRun => ({
  ...advance(run, { ...noJob, state: 'unknown' }, nowMs),
  unknownJobId: run.jobId,
  answer: undefined,
});

/** What a button may do to a run. Returns undefined if the run has moved on since the button was shown. */
type Transition = (run: ExportRun, by: By, nowMs: number) => ExportRun | undefined;

const endedAs = ({ state, ending }: ExportRun, ...kinds: Ending['kind'][]) =>
  state === 'ended' && ending !== undefined && kinds.includes(ending.kind);

/** What the buttons do, by name. */
export const transitions = {
  startAgain: (run, by, nowMs) =>
    run.state === 'unknown' ? withAnswer(restart(run, nowMs), run, by, 'startAgain') : undefined,
  leave: (run, by, nowMs) =>
    run.state === 'unknown' ? withAnswer(endRun(run, { kind: 'left' }, nowMs), run, by, 'leave') : undefined,
  /** It failed or did not start: starts it once more. */
  tryAgain: (run, _by, nowMs) => {
    const isBroken = endedAs(run, 'broken') && run.jobId === undefined;
    const canRestart = isBroken || endedAs(run, 'failed', 'notStarted', 'lost');
    return canRestart && run.domain !== '' ? restart(run, nowMs) : undefined;
  },
  /** Resumes a watch that ended before the job, or a link that could not be made. */
  checkNow: (run, _by, nowMs) => {
    if (!endedAs(run, 'gaveUp', 'noLink', 'broken') || run.jobId === undefined) return undefined;
    const state = endedAs(run, 'noLink') ? 'bundling' : 'watching';
    return resume(run, { state, kept: true, resumed: run.resumed + 1 }, nowMs);
  },
  /** Replaces a link that expires or has expired. */
  newLink: (run, _by, nowMs) => (endedAs(run, 'done') ? relink(run, nowMs) : undefined),
  /** Mentions one more person in the ending. */
  notify: (run, by) => {
    if (run.state === 'ended' || isMentioned(run, by.id) || run.watchers.length >= MAX_WATCHERS)
      return undefined;
    const watchers = [...run.watchers, { id: by.id, name: by.name }];
    return { ...run, watchers, people: [...new Set([...run.people, by.id])] };
  },
  /** Polls at once, unless the last poll was just now or the limit is reached. */
  refresh: (run, _by, nowMs) => {
    const { pollFailure } = run;
    const isLimited = pollFailure?.kind === 'limit' && pollFailure.nextMs > nowMs;
    const isFresh = pollFailure === undefined && nowMs - (run.polledAtMs ?? 0) <= FRESH_POLL_MS;
    if (run.state !== 'watching' || isLimited || isFresh) return undefined;
    return { ...run, nextPollAtMs: nowMs, pollRequested: true };
  },
} satisfies Record<string, Transition>;
export type TransitionName = keyof typeof transitions;
