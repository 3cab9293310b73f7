import { z } from 'zod';
import { idOf } from '../../store/ids.ts';
import { runBase } from '../../store/runs.ts';
import { openQuestionIds } from '../needs.ts';
import { pollFailure, snapshot } from '../poll-record.ts';
import { conversationOf, type RunRequest, requestRunId } from '../request.ts';
import type { VisibleKind } from '../visibility.ts';

/** The export is done, and a link to its bundle was made. */
const doneEnding = z.object({
  kind: z.literal('done'),
  /** Name of the link in the link store. */
  link: z.string(),
  linkEndsAtMs: z.number().optional(),
  sizeBytes: z.number().optional(),
  /** The link has ended, and its message says so. */
  expired: z.boolean().optional(),
  /** The link went to the requester's direct messages; the thread has none. */
  privately: z.boolean().optional(),
  /** Slack's word for why it could not go there. */
  refusal: z.string().optional(),
});
export type DoneEnding = z.infer<typeof doneEnding>;

/** How an export came out, for the person who asked. */
const ending = z.discriminatedUnion('kind', [
  doneEnding,
  z.object({ kind: z.literal('failed'), reason: z.string().optional() }),
  /**
   * The platform certainly did not start it; `reason` is what it said. With `permission` whoever asked may no longer
   * start exports, and `reason` is whom to ask. `plan`: the platform forbids it, for whatever cause.
   */
  z.object({
    kind: z.literal('notStarted'),
    why: z.enum(['domain', 'plan', 'key', 'limit', 'down', 'project', 'permission', 'other']),
    reason: z.string().optional(),
    /** The admins were alerted of the rejected key, or of what is forbidden. */
    adminsTold: z.boolean().optional(),
  }),
  z.object({ kind: z.literal('lost') }),
  z.object({ kind: z.literal('gaveUp'), afterMs: z.number() }),
  z.object({
    kind: z.literal('noLink'),
    /** Somebody has to act before a link can be had. */
    why: z.enum(['key', 'project']).optional(),
    /** What the platform said. */
    reason: z.string().optional(),
    adminsTold: z.boolean().optional(),
  }),
  /** It is unknown whether it started, and a person decided to leave it. */
  z.object({ kind: z.literal('left') }),
  /** The card could not be posted, so nothing was started. */
  z.object({ kind: z.literal('noPlace'), code: z.string() }),
  z.object({ kind: z.literal('broken'), ref: z.string() }),
]);
export type Ending = z.infer<typeof ending>;

/**
 * One export that somebody asked for. All times are epoch milliseconds. Every message about it is a function of
 * this record alone, see `view.ts`.
 */
export const exportRun = runBase.extend({
  job: z.literal('export'),
  needs: openQuestionIds,
  project: z.string(),
  /** Empty for an export that was not started from here and whose job alone is known. */
  domain: z.string(),
  /** The label of this export, and the pages of it; every page when missing. */
  version: z.string().optional(),
  paths: z.array(z.string()).optional(),
  /** The link is for the requester alone. */
  privately: z.boolean().default(false),
  /** Watches an export job that exists; it starts none. */
  joined: z.boolean().default(false),
  requester: z.object({ id: z.string(), name: z.string() }),
  /** Who wants to be mentioned in the ending as well. */
  watchers: z.array(z.object({ id: z.string(), name: z.string() })),
  /** Where it was asked for. `joinable`: the app can be invited there; else its messages go to the person. */
  asked: z.object({ channel: z.string(), joinable: z.boolean(), isPublic: z.boolean(), atMs: z.number() }),
  /** Where its messages are: the channel, or the requester's direct messages. */
  inDirectMessage: z.boolean(),
  /** Its thread stays: an attempt before this one was started, or was watched. */
  kept: z.literal(true).optional(),
  /** Counts the starts, and within one the times that a person had it watched again. */
  attempt: z.number().int(),
  resumed: z.number().int(),
  /** Counts the further links that were asked for; they edit the ending that is there. */
  relinked: z.number().int(),
  /**
   * `accepted` not stepped yet · `postingCard` the card is on its way · `starting` · `watching` ·
   * `bundling` completed, the link is being made · `unknown` a person has to decide · `ended`
   */
  state: z.enum(['accepted', 'postingCard', 'starting', 'watching', 'bundling', 'unknown', 'ended']),
  /** When the present state began. */
  sinceMs: z.number(),
  /** When the present attempt began. */
  attemptAtMs: z.number(),
  nextPollAtMs: z.number(),
  /** The platform's id of the export job. */
  jobId: z.string().optional(),
  /** Somebody took it for that id, and the platform does not know it: the question is open again. */
  unknownJobId: z.string().optional(),
  startedAtMs: z.number().optional(),
  /** What the platform last said. */
  status: z.string().optional(),
  progressText: z.string().optional(),
  pageCount: z.number().optional(),
  /** The platform gave a number above one, or counts: a number below one is no fraction. */
  inPercent: z.boolean().optional(),
  snapshots: z.array(snapshot),
  /** How long the last export of the same site took, in milliseconds. */
  lastDurationMs: z.number().optional(),
  /** A person waits for the next poll. */
  pollRequested: z.boolean().optional(),
  /** When the platform last reported any progress. */
  movedAtMs: z.number().optional(),
  /** There has been no progress for long, and messages say so. */
  stalled: z.boolean().optional(),
  /** Admins may have been alerted of it. */
  pollFailure: pollFailure.extend({ adminsTold: z.boolean().optional() }).optional(),
  completedAtMs: z.number().optional(),
  ending: ending.optional(),
  /** A link whose message stands and may still work, while a further one is made or cannot be had. */
  earlier: z.object({ resumed: z.number().int(), ending: doneEnding }).optional(),
  /** The link that is being made is for the requester alone; missing until that is decided. */
  alone: z.boolean().optional(),
  /** The ending has its line in the audit log. */
  audited: z.boolean().optional(),
  /** The question of an earlier attempt, and who answered it how. */
  answer: z
    .object({
      attempt: z.number().int(),
      by: z.string(),
      byId: z.string(),
      action: z.enum(['startAgain', 'leave', 'late', 'watchIt']),
    })
    .optional(),
});
export type ExportRun = z.infer<typeof exportRun>;

export const exportKind: VisibleKind<ExportRun> = { record: exportRun, visible: (run) => run };

/** The quotas that an export counts toward while it runs: of its requester, then of the channel it was asked for in. */
export const exportQuotas = (teamId: string, userId: string, channel: string): string[] => [
  ['exports', teamId, userId].join(':'),
  ...(channel === '' ? [] : [['exports', teamId, channel].join(':')]),
];

/** Returns the short reference of a run, in messages and in every log line about it. */
export const refOf = (runId: string) => runId.slice(0, 8);

/** What somebody wants exported: `project` is a name in the settings, `domain` a host name. */
export type ExportTarget = Pick<ExportRun, 'project' | 'domain' | 'version' | 'paths' | 'privately'>;

/**
 * Returns a run that starts an export. With a `jobId` it watches an export job that exists; then `domain` is empty when
 * nobody here started it. Who may have its link is decided here, but for channels that are shared.
 */
export function newExportRun(
  target: ExportTarget & { jobId?: string },
  request: RunRequest,
  { links, now }: { links: 'thread' | 'requester'; now: () => number },
): ExportRun {
  const { project, domain, version, paths, privately, jobId } = target;
  const { teamId, user, channel } = request;
  const nowMs = now();
  return {
    id: requestRunId(request),
    teamId,
    job: 'export',
    rev: 1,
    claim: jobId === undefined ? exportClaim({ teamId, ...target }) : idOf('watch', teamId, project, jobId),
    people: [user.id],
    project,
    domain,
    version,
    paths,
    privately: privately || links === 'requester' || !user.fullMember,
    joined: jobId !== undefined,
    jobId,
    requester: { id: user.id, name: user.name },
    watchers: [],
    asked: { ...conversationOf(channel), atMs: nowMs },
    inDirectMessage: channel.id === '',
    attempt: 1,
    resumed: 0,
    relinked: 0,
    state: 'accepted',
    sinceMs: nowMs,
    attemptAtMs: nowMs,
    nextPollAtMs: nowMs,
    snapshots: [],
  };
}

/** What the platform refuses, and whoever may no longer ask for it: trying again later helps no more than asking anew. */
const REFUSALS = ['domain', 'plan', 'permission', 'other'];

/**
 * Whether nothing of it stays in Slack and whoever asked is told privately: the start was refused, or the platform knows
 * no such job.
 */
export const isRetracted = ({ ending, kept, joined, snapshots: looks }: ExportRun): boolean =>
  !kept &&
  ((ending?.kind === 'notStarted' && REFUSALS.includes(ending.why)) ||
    (ending?.kind === 'lost' && joined && looks.length === 0));

/** Returns the claim that keeps others from starting the same export meanwhile; the order of paths makes no difference. */
export const exportClaim = ({
  teamId,
  project,
  domain,
  version,
  paths,
}: Pick<ExportRun, 'teamId' | 'project' | 'domain' | 'version' | 'paths'>) =>
  idOf('export', teamId, project, domain, version ?? '', ...(paths ?? []).toSorted());

/** Returns the name under which the last duration of the same pages of a site is kept; nothing when the site is not known. */
export const durationName = ({ teamId, project, domain, paths, joined }: ExportRun): string | undefined =>
  joined || domain === '' ? undefined : idOf(teamId, project, domain, ...(paths ?? []).toSorted());

/** Returns the alias by which the run of an export job is found. */
export const jobAlias = (teamId: string, project: string, jobId: string) =>
  ['export', teamId, project, jobId].join(' ');

/** Returns the platform's id of the export job, of a run in a state that has one. */
export function jobIdOf(run: ExportRun): string {
  if (run.jobId === undefined) throw new Error('a run in this state has an export job');
  return run.jobId;
}

/** Whether its link is, or went, to the requester alone. Then no later one goes to the thread. */
export const isPrivate = ({ privately, ending }: ExportRun) =>
  privately || (ending?.kind === 'done' && ending.privately === true);

/** Returns how far the export was when the platform last said so, 0 to 1. */
export const fractionOf = (run: Pick<ExportRun, 'snapshots'>) =>
  run.snapshots.findLast(({ fraction }) => fraction !== undefined)?.fraction;
