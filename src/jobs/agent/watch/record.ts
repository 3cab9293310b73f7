import { z } from 'zod';
import type { AgentJob } from '../../../docs-api/schemas.ts';
import { idOf } from '../../../store/keys.ts';
import { runBase } from '../../../store/runs.ts';
import { type PollFailure, pollFailure } from '../../polling.ts';

/** An agent job as the platform last described it. Times are epoch milliseconds. */
export const jobSnapshot = z.object({
  status: z.enum(['active', 'completed', 'archived', 'failed', 'unknown']),
  /** The platform's own word for its status. */
  rawStatus: z.string(),
  repository: z.string().optional(),
  ref: z.string().optional(),
  model: z.string().optional(),
  prLink: z.string().optional(),
  prText: z.string().optional(),
  archivedAtMs: z.number().optional(),
  atMs: z.number(),
});
export type JobSnapshot = z.infer<typeof jobSnapshot>;

/**
 * Returns a newer snapshot. A field that the platform leaves out keeps its value. But if a completed job names no pull
 * request, the snapshot has none.
 */
export function snapshotOf(job: AgentJob, before: JobSnapshot | undefined, atMs: number): JobSnapshot {
  const { status, rawStatus, repository, ref, model, prLink, prText, archivedAt } = job;
  const hasPr = prLink !== undefined || prText !== undefined || status === 'completed';
  return {
    status,
    rawStatus,
    repository: repository ?? before?.repository,
    ref: ref ?? before?.ref,
    model: model ?? before?.model,
    prLink: hasPr ? prLink : before?.prLink,
    prText: hasPr ? prText : before?.prText,
    archivedAtMs: archivedAt,
    atMs,
  };
}

/**
 * How a round ended. `prLink` is an http(s) address; `prText` is other text in its place. `samePr`: the job had this
 * pull request before.
 */
export const roundEnding = z.object({
  kind: z.enum(['newPr', 'samePr', 'noPr', 'failed', 'archived', 'gone', 'gaveUp']),
  prLink: z.string().optional(),
  prText: z.string().optional(),
  archivedAtMs: z.number().optional(),
  /** With `gaveUp`: how long the job was polled. */
  afterMs: z.number().optional(),
  atMs: z.number(),
});
export type RoundEnding = z.infer<typeof roundEnding>;

/** What a poll showed: an event in the inbox of each thread that follows the job. Times are epoch milliseconds. */
export const polled = z.object({
  kind: z.literal('polled'),
  /** When the poll began. */
  atMs: z.number(),
  seen: jobSnapshot.optional(),
  /** The platform does not know the job. */
  notFound: z.boolean(),
  /** Why the job cannot be polled at present. */
  failure: z.enum(['down', 'limit', 'key', 'forbidden', 'project']).optional(),
  /** The latest time at which a poll, or the answer to a send, showed the job active. */
  activeAtMs: z.number().optional(),
  /** No thread sent anything: the job was found active. */
  found: z.boolean(),
  /** The job is polled no more: nothing was sent after this time, and it took too long. */
  gaveUpSinceMs: z.number().optional(),
});
export type Polled = z.infer<typeof polled>;

/** The watch of one agent job: polls it for all threads that follow it. All times are epoch milliseconds. */
export const watchRun = runBase.extend({
  job: z.literal('agent-watch'),
  project: z.string(),
  agentJobId: z.string(),
  /** Runs of the threads that follow the job. */
  threads: z.array(z.string()),
  seen: jobSnapshot.optional(),
  activeAtMs: z.number().optional(),
  /** The agent works: since when, and the time of the last send. `found`: no thread sent anything. */
  open: z.object({ sinceMs: z.number(), sentAtMs: z.number(), found: z.boolean() }).optional(),
  nextPollAtMs: z.number(),
  /** A person waits for a poll, though the agent may not be at work. */
  pollRequested: z.boolean(),
  pollFailure: pollFailure.optional(),
});
export type WatchRun = z.infer<typeof watchRun>;

/** Returns the run id of a job's watch, the same for all threads. */
export const watchId = (teamId: string, project: string, agentJobId: string) =>
  idOf('agent-watch', teamId, project, agentJobId);

/** Returns the watch of a job that has not been polled yet. */
export const newWatch = (teamId: string, project: string, agentJobId: string, nowMs: number): WatchRun => ({
  id: watchId(teamId, project, agentJobId),
  teamId,
  job: 'agent-watch',
  rev: 1,
  people: [],
  lasting: true,
  project,
  agentJobId,
  threads: [],
  nextPollAtMs: nowMs,
  pollRequested: true,
});

/** Adds a thread, which needs a poll. */
export const addThread = (watch: WatchRun, threadId: string, nowMs: number): WatchRun =>
  watch.threads.includes(threadId)
    ? watch
    : { ...requestPoll(watch, nowMs), lasting: true, threads: [...watch.threads, threadId] };

/** Removes a thread. Without threads the record expires. */
export function removeThread(watch: WatchRun, threadId: string): WatchRun {
  const threads = watch.threads.filter((id) => id !== threadId);
  return { ...watch, threads, lasting: threads.length > 0 };
}

/** Plans a poll at once, or after a limit or failure has passed. */
export const requestPoll = (watch: WatchRun, nowMs: number): WatchRun => ({
  ...watch,
  pollRequested: true,
  nextPollAtMs: watch.pollFailure?.nextMs ?? nowMs,
});

/** Adds a send that the platform took at `atMs`; `isActive`: its answer showed the job active. Repeats change nothing. */
export function addSend(watch: WatchRun, atMs: number, isActive: boolean): WatchRun {
  const { open, activeAtMs = 0, pollFailure: failure } = watch;
  return {
    ...watch,
    ...(isActive && { activeAtMs: Math.max(activeAtMs, atMs) }),
    open: {
      sinceMs: open?.sinceMs ?? atMs,
      sentAtMs: Math.max(open?.sentAtMs ?? 0, atMs),
      found: false,
    },
    // While the agent works, a poll is planned already.
    nextPollAtMs: open === undefined ? Math.max(failure?.nextMs ?? 0, atMs) : watch.nextPollAtMs,
  };
}

/**
 * Whether a poll shows the end of work that was sent at `sentAtMs`: the job was seen active after that, or `graceMs`
 * have passed. Until then the platform may still show the previous state.
 */
export function isWorkOver(
  sentAtMs: number,
  { seen, atMs, activeAtMs = 0 }: Pick<Polled, 'seen' | 'atMs' | 'activeAtMs'>,
  graceMs: number,
): boolean {
  if (seen?.status === 'archived') return true;
  if (seen?.status !== 'completed' && seen?.status !== 'failed') return false;
  return atMs >= sentAtMs && (activeAtMs >= sentAtMs || atMs - sentAtMs >= graceMs);
}

/** A watch after a poll, and the event for its threads, if they need to know. */
export interface PollResult {
  watch: WatchRun;
  event?: Polled | undefined;
}

function withEvent(watch: WatchRun, about: Pick<Polled, 'atMs'> & Partial<Polled>): PollResult {
  const { seen, activeAtMs, open } = watch;
  const failure = visibleFailure(watch);
  const known = { seen, activeAtMs, notFound: false, found: open?.found ?? true, failure };
  return { watch, event: { kind: 'polled', ...known, ...about } };
}

/** Applies the result of a poll that began at `atMs`. */
export function applyPoll(watch: WatchRun, job: AgentJob, atMs: number, graceMs: number): PollResult {
  const isActive = job.status === 'active';
  const seen = snapshotOf(job, watch.seen, atMs);
  const activeAtMs = isActive ? Math.max(watch.activeAtMs ?? 0, atMs) : watch.activeAtMs;
  const open = watch.open ?? (isActive ? { sinceMs: atMs, sentAtMs: atMs, found: true } : undefined);
  const isOver = open !== undefined && isWorkOver(open.sentAtMs, { seen, atMs, activeAtMs }, graceMs);
  const idle = { open: isOver ? undefined : open, pollRequested: false, pollFailure: undefined };
  return withEvent({ ...watch, seen, activeAtMs, ...idle }, { atMs, found: open?.found ?? true });
}

/** The platform does not know the job, or no longer knows it. */
export const markNotFound = (watch: WatchRun, atMs: number): PollResult =>
  withEvent(
    { ...watch, open: undefined, pollRequested: false, pollFailure: undefined },
    { atMs, notFound: true },
  );

/** The agent has worked for too long: the job is no longer polled. */
export const giveUp = (watch: WatchRun, atMs: number): PollResult =>
  withEvent(
    { ...watch, open: undefined, pollRequested: false },
    { atMs, gaveUpSinceMs: watch.open?.sentAtMs ?? atMs },
  );

/** Returns the watch with a failure. The event has no snapshot: a failed poll shows nothing of the job. */
export function applyFailure(before: WatchRun, failure: PollFailure, nowMs: number): PollResult {
  const watch = { ...before, pollFailure: failure, nextPollAtMs: failure.nextMs };
  const isShown = visibleFailure(watch) !== undefined || visibleFailure(before) !== undefined;
  return isShown ? withEvent(watch, { atMs: nowMs, seen: undefined, activeAtMs: undefined }) : { watch };
}

/** Consecutive errors before messages say that the platform does not answer. */
export const FAILURE_SHOWN_AFTER = 3;

function visibleFailure({ pollFailure: failure }: WatchRun): Polled['failure'] {
  if (failure === undefined || failure.kind === 'lost') return undefined;
  return failure.kind === 'down' && failure.inARow < FAILURE_SHOWN_AFTER ? undefined : failure.kind;
}
