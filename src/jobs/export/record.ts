import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ExportJob } from '../../docs-api/operations.ts';
import { hostOfUrl } from '../../domain.ts';
import { idOf } from '../../store/keys.ts';
import { type Quota, runBase } from '../../store/runs.ts';
import { updateState } from '../deployment/attempt.ts';
import type { Wakeable } from '../engine/send-event.ts';
import { answerOf, operation } from '../operation/record.ts';
import type { Limits } from '../shared/limits.ts';
import { USE_DOMAIN } from '../shared/offer-view.ts';
import type { Person } from '../shared/origin.ts';
import {
  conversationOf,
  origin,
  person,
  type RunRequest,
  requestRunId,
  type VisibleKind,
} from '../shared/origin.ts';
import { type ExportTarget, exportTarget } from '../shared/target.ts';

/** The export is done and has a download link. */
const doneEnding = z.object({
  kind: z.literal('done'),
  /** Name of the link in the link store. */
  link: z.string(),
  linkEndsAtMs: z.number().optional(),
  sizeBytes: z.number().optional(),
  /** The link has expired, and its message says so. */
  expired: z.boolean().optional(),
  /** The link went to the requester's direct messages, not to the thread. */
  privately: z.boolean().optional(),
  /** Slack's error code, if the direct message was refused. */
  refusal: z.string().optional(),
});
export type DoneEnding = z.infer<typeof doneEnding>;

/** The result of an export, as the requester sees it. */
const ending = z.discriminatedUnion('kind', [
  doneEnding,
  z.object({ kind: z.literal('failed'), reason: z.string().optional() }),
  /**
   * The platform certainly did not start it; `reason` is its reply. `permission`: the requester may no longer start
   * exports, and `reason` is the contact. `plan`: the platform forbids it, for any cause.
   */
  z.object({
    kind: z.literal('notStarted'),
    why: z.enum(['domain', 'plan', 'key', 'limit', 'down', 'project', 'permission', 'other']),
    reason: z.string().optional(),
    /** The admins were alerted of the rejected key or the forbidden request. */
    adminsAlerted: z.boolean().optional(),
  }),
  z.object({ kind: z.literal('lost') }),
  z.object({ kind: z.literal('gaveUp'), afterMs: z.number() }),
  z.object({
    kind: z.literal('noLink'),
    /** Somebody has to act before a link can be made. */
    why: z.enum(['key', 'project']).optional(),
    /** The platform's own words. */
    reason: z.string().optional(),
    adminsAlerted: z.boolean().optional(),
  }),
  /** The start is unknown, and a person decided to leave it so. */
  z.object({ kind: z.literal('left') }),
  /** The card could not be posted, so nothing was started. */
  z.object({ kind: z.literal('noPlace'), code: z.string() }),
  z.object({ kind: z.literal('broken'), ref: z.string() }),
]);
export type Ending = z.infer<typeof ending>;

export const endingKinds = ending.options.map(({ shape }) => shape.kind.value);

/**
 * One requested export. All times are epoch milliseconds. Its messages are functions of this record, see `view.ts`. A
 * `link` only makes the requester's own link to the bundle of another run's job.
 */
export const exportRun = runBase.extend({
  job: z.enum(['export', 'link']),
  ...exportTarget.shape,
  ...operation.shape,
  /** The platform's word for an unknown domain. As the pages are unknown, too, such an export cannot be started again. */
  siteDomain: z.string().optional(),
  /** Watches an existing export job and starts none. */
  joined: z.boolean(),
  ...origin.shape,
  /** The schedule that asked for it, in the requester's name; its messages are in the thread of the schedule's message. */
  schedule: z.string().optional(),
  /** People whom the ending mentions as well. */
  watchers: z.array(person),
  /** The thread stays, because an earlier attempt was started or watched. */
  kept: z.literal(true).optional(),
  /** How often a person resumed the watch of the present attempt. */
  resumed: z.number().int(),
  /** Counts the further links; each edits the existing ending. */
  relinked: z.number().int(),
  /**
   * `accepted` not stepped yet · `postingCard` the card is being posted · `starting` · `watching` · `bundling`
   * completed, the link is being made · `unknown` a person has to decide · `ended`
   */
  state: z.enum(['accepted', 'postingCard', 'starting', 'watching', 'bundling', 'unknown', 'ended']),
  /** Start of the present attempt. */
  attemptAtMs: z.number(),
  /** The platform's id of the export job. */
  jobId: z.string().optional(),
  /** The job id that a person entered and the platform does not know; the question is open again. */
  unknownJobId: z.string().optional(),
  /** The platform's latest status. */
  status: z.string().optional(),
  progressText: z.string().optional(),
  pageCount: z.number().optional(),
  /** The last progress that the platform reported, 0 to 1. */
  fraction: z.number().optional(),
  /** Counts the polls of the job that were answered; the start's answer is the first. */
  polls: z.number().int(),
  polledAtMs: z.number().optional(),
  /** A person waits for the next poll. */
  pollRequested: z.boolean().optional(),
  /** Time of the last progress that the platform reported. */
  movedAtMs: z.number().optional(),
  /** Progress has stopped for long, and messages say so. */
  stalled: z.boolean().optional(),
  completedAtMs: z.number().optional(),
  ending: ending.optional(),
  /** The deployments that the requester may deploy it to. */
  deployments: z.array(z.string()).optional(),
  /** The state of each deployment of it. */
  updates: z.array(updateState).optional(),
  /** An earlier link that may still work, while a new one is made or cannot be made. */
  earlier: z.object({ resumed: z.number().int(), ending: doneEnding }).optional(),
  /** Only the requester gets the link that is being made: decided once, though the platform's call is retried. */
  alone: z.boolean().optional(),
});
export type ExportRun = z.infer<typeof exportRun>;

/** The runs of exports, for those that ask one to look again. */
export const exportRuns: Wakeable = { job: 'export' };

export const exportKind: VisibleKind<ExportRun> = {
  what: 'export',
  record: exportRun,
  visible: (run) => run,
};

/** The quotas of a running export: its requester's, then the conversation's. */
export function exportQuotas({ teamId, by, asked }: ExportRun, limits: Limits): Quota[] {
  const quota = (of: string, max: number) => ({ name: ['exports', teamId, of].join(':'), max });
  const ofPerson = quota(by.id, limits.exportsPerPerson);
  return asked.channel === '' ? [ofPerson] : [ofPerson, quota(asked.channel, limits.exportsPerChannel)];
}

/**
 * Returns a run that starts an export. With a `jobId` it watches that job instead; `domain` is empty if nobody here
 * started it. It also decides who may have the link, except in shared channels.
 */
export function newExportRun(
  target: ExportTarget & { jobId?: string | undefined },
  request: RunRequest,
  { links, now }: { links: 'thread' | 'requester'; now: () => number },
): ExportRun {
  const { project, domain, version, paths, jobId } = target;
  const { teamId, user, channel } = request;
  const nowMs = now();
  return {
    id: requestRunId(request),
    teamId,
    job: 'export',
    rev: 1,
    claim: jobId === undefined ? exportClaim(teamId, target) : idOf('watch', teamId, project, jobId),
    people: [user.id],
    project,
    domain,
    version,
    paths,
    jobId,
    privately: target.privately || links === 'requester' || !user.fullMember,
    joined: jobId !== undefined,
    by: { id: user.id, name: user.name },
    watchers: [],
    asked: conversationOf(channel),
    inDirectMessage: channel.id === '',
    state: 'accepted',
    attempt: 1,
    resumed: 0,
    relinked: 0,
    polls: 0,
    sinceMs: nowMs,
    attemptAtMs: nowMs,
    nextPollAtMs: nowMs,
  };
}

/** Refusals that a retry does not change: by the platform, or for a lost permission. */
const REFUSALS = ['domain', 'plan', 'permission', 'other'];

/** Whether only a private answer stays in Slack: the start was refused, or the platform knows no such job. */
export const isRetracted = ({ ending, kept, joined, polls }: ExportRun): boolean =>
  !kept &&
  ((ending?.kind === 'notStarted' && REFUSALS.includes(ending.why)) ||
    (ending?.kind === 'lost' && joined && polls === 0));

/** Returns the claim that blocks a second identical export. The order of paths makes no difference. */
const exportClaim = (teamId: string, { project, domain, version = '', paths = [] }: ExportTarget) =>
  idOf('export', teamId, project, domain, version, ...paths.toSorted());

/** Returns the alias that maps an export job to its run. */
export const jobAlias = (teamId: string, project: string, jobId: string) =>
  ['export', teamId, project, jobId].join(' ');

/** Returns the latest link: while a further one is made, or if it fails, the previous one. */
export const latestLink = ({ ending, earlier }: ExportRun): DoneEnding | undefined =>
  ending?.kind === 'done' ? ending : earlier?.ending;

/** Returns the run in its next state. */
export const advance = (
  run: ExportRun,
  changes: Partial<ExportRun> & Pick<ExportRun, 'state'>,
  nowMs: number,
): ExportRun => ({ ...run, sinceMs: nowMs, nextPollAtMs: nowMs, ...changes });

/** Returns the run with its ending. A new link takes the place of the one whose message it edits. */
export function endRun(run: ExportRun, ending: Ending, nowMs: number): ExportRun {
  const isReplaced = ending.kind === 'done' && run.earlier?.resumed === run.resumed;
  const earlier = isReplaced ? undefined : run.earlier;
  return { ...run, state: 'ended', sinceMs: nowMs, ending, earlier, alone: undefined };
}

/** A number below one may mean a fraction or less than one percent. From this poll on, it counts as a fraction. */
const UNSURE_POLLS = 3;

/**
 * Returns the run with the result of one poll, and whether its last progress is `stalledAfterMs` ago. Fields that the
 * platform leaves out keep their value. A run that never reports progress cannot stall.
 */
export function applyPoll(
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
    siteDomain: before.domain === '' ? (hostOfUrl(job.domain ?? '') ?? before.siteDomain) : undefined,
    ...(isKnown && { fraction }),
    polls: before.polls + 1,
    polledAtMs: atMs,
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

/** The fields about a job, for a run that has none. */
export const noJob = {
  jobId: undefined,
  startedAtMs: undefined,
  completedAtMs: undefined,
  status: undefined,
  progressText: undefined,
  pageCount: undefined,
  fraction: undefined,
  polls: 0,
  polledAtMs: undefined,
  movedAtMs: undefined,
  stalled: undefined,
  pollRequested: undefined,
  pollFailure: undefined,
};

/** Starts the same request once more. A run that was only watched is now started from here. */
const restart = (run: ExportRun, nowMs: number): ExportRun => ({
  ...advance(run, { ...noJob, state: 'postingCard', attemptAtMs: nowMs }, nowMs),
  unknownJobId: undefined,
  ending: undefined,
  earlier: undefined,
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

const resumed = (run: ExportRun, state: 'watching' | 'bundling', nowMs: number) =>
  resume(run, { state, kept: true, resumed: run.resumed + 1 }, nowMs);

/** Requests a further link, whose message replaces that of the present one. */
export const relink = (run: ExportRun, nowMs: number): ExportRun => {
  const earlier = run.ending?.kind === 'done' ? { resumed: run.resumed, ending: run.ending } : run.earlier;
  return resume(run, { state: 'bundling', earlier, relinked: run.relinked + 1 }, nowMs);
};

/** More mentions in one message would be noise. */
export const MAX_WATCHERS = 20;

/** A click on [Check now] is answered by a poll of at most this age. */
const FRESH_POLL_MS = 2000;

export const isMentioned = (run: ExportRun, userId: string) =>
  [run.by, ...run.watchers].some(({ id }) => id === userId);

/** What a button may do to a run. Returns undefined if the run has moved on since the button was shown. */
type Transition = (run: ExportRun, by: Person, nowMs: number) => ExportRun | undefined;

const endedAs = ({ state, ending }: ExportRun, ...kinds: Ending['kind'][]) =>
  state === 'ended' && ending !== undefined && kinds.includes(ending.kind);

/** It failed or did not start: starts it once more. */
const tryAgain: Transition = (run, _by, nowMs) => {
  const isBroken = endedAs(run, 'broken') && run.jobId === undefined;
  const canRestart = isBroken || endedAs(run, 'failed', 'notStarted', 'lost');
  return canRestart && run.domain !== '' ? restart(run, nowMs) : undefined;
};

/** What the buttons do, by name. */
export const exportTransitions = {
  tryAgain,
  /** The same after the person has confirmed that it may run twice. */
  startAgain: (run, by, nowMs) =>
    run.state === 'unknown'
      ? { ...restart(run, nowMs), answer: answerOf(run, by, 'startAgain') }
      : tryAgain(run, by, nowMs),
  leave: (run, by, nowMs) =>
    run.state === 'unknown'
      ? { ...endRun(run, { kind: 'left' }, nowMs), answer: answerOf(run, by, 'leave') }
      : undefined,
  /** Resumes a watch that ended before the job. */
  checkNow: (run, _by, nowMs) =>
    endedAs(run, 'gaveUp', 'broken') && run.jobId !== undefined ? resumed(run, 'watching', nowMs) : undefined,
  /** Replaces a link that expires or has expired, or makes the one that could not be made. */
  newLink: (run, _by, nowMs) => {
    if (endedAs(run, 'noLink')) return resumed(run, 'bundling', nowMs);
    return endedAs(run, 'done') ? relink(run, nowMs) : undefined;
  },
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

/** The value of a run's button. It names the attempt that it was shown for, so a late click does nothing. */
export const runButton = z.object({
  v: z.literal(1),
  run: z.string(),
  attempt: z.number().int(),
  resumed: z.number().int(),
  /** The site, for the reply if the record is not found. */
  domain: z.string(),
});
export type RunButton = z.infer<typeof runButton>;

export const linkActions = { again: 'link.again', download: 'link.download' } as const;

export const exportActions = {
  ask: 'export.ask',
  startAgain: 'export.start_again',
  watchIt: 'export.watch_it',
  leave: 'export.leave',
  tryAgain: 'export.try_again',
  checkNow: 'export.check_now',
  newLink: 'export.new_link',
  notify: 'export.notify',
  refresh: 'export.refresh',
  startAnother: 'export.start_another',
  another: 'export.another',
  download: 'export.download',
  openThread: 'export.open_thread',
  useDomain: USE_DOMAIN,
  useTyped: 'export.use_typed',
  ownLink: 'export.own_link',
  settings: 'export.settings',
} as const;
