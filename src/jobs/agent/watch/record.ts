import { z } from 'zod';
import { idOf } from '../../../store/keys.ts';
import { runBase } from '../../../store/runs.ts';
import { pollFailure } from '../../poll-record.ts';

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

export const isSameSnapshot = (one: JobSnapshot | undefined, other: JobSnapshot | undefined) =>
  JSON.stringify({ ...one, atMs: 0 }) === JSON.stringify({ ...other, atMs: 0 });

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

const { nextMs, ...withoutNext } = pollFailure.shape;

/** The watch of one agent job, shared by all threads that follow it. All times are epoch milliseconds. */
export const watchRun = runBase.extend({
  job: z.literal('agent-watch'),
  project: z.string(),
  agentJobId: z.string(),
  /** Runs of the threads that follow the job. */
  threads: z.array(z.string()),
  seen: jobSnapshot.optional(),
  /** The latest pull request that the job ever had. */
  lastPr: z.string().optional(),
  notFound: z.boolean().optional(),
  rounds: z.number().int(),
  round: z
    .object({
      n: z.number().int(),
      sinceMs: z.number(),
      /** Time of its last instruction. */
      sentAtMs: z.number(),
      /** A poll since then saw the job active. */
      active: z.boolean(),
      /** The job's pull request before this round. */
      prBefore: z.string().optional(),
      /** Nobody here sent anything: the job was found active. */
      found: z.boolean(),
    })
    .optional(),
  /** How the latest rounds ended, oldest first, at most ENDINGS_KEPT. */
  endings: z.array(
    roundEnding.extend({
      n: z.number().int(),
      /** If the round was given up: the job's pull request before it. */
      prBefore: z.string().optional(),
      /** Nobody here sent anything in it. */
      found: z.boolean().optional(),
    }),
  ),
  /** The rounds of the latest sends, by name, at most SENDS_KEPT: adding one again changes nothing. */
  sends: z.array(z.object({ of: z.string(), n: z.number().int() })),
  nextPollAtMs: z.number(),
  /** A person waits for a poll, though no round is open. */
  pollRequested: z.boolean(),
  pollFailure: z.object({ ...withoutNext, sinceMs: z.number(), nextMs }).optional(),
  /** The threads have not been woken for a change yet; one of them may know it already. */
  untold: z.boolean(),
  knownBy: z.string().optional(),
});
export type WatchRun = z.infer<typeof watchRun>;
export type WatchEnding = WatchRun['endings'][number];

/** Endings that some thread may not have copied yet; more are never open at once. */
export const ENDINGS_KEPT = 20;

/** Maximum number of sends protected against a second record after a crash. */
export const SENDS_KEPT = 40;

/** Returns the run id of a job's watch, the same for all threads. */
export const watchId = (teamId: string, project: string, agentJobId: string) =>
  idOf('agent-watch', teamId, project, agentJobId);
