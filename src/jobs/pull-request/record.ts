import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { details, type Pull, pull } from '../../git-hosts/pull.ts';
import { retention, type Timing } from '../../runtime/timing.ts';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';
import type { EventsOf } from '../engine/send-event.ts';
import { nextOccurrence } from '../schedule/timetable.ts';
import { person, type VisibleKind } from '../shared/origin.ts';
import type { PullRequestState } from './state.ts';

/** The number of slots that the next look takes before its first request, because the last one got too few. */
const slotsFirst = z.number().optional();

/** A repository whose list is read for all pull requests of a project in it. Times are epoch milliseconds. */
export const repositoryRun = runBase.extend({
  job: z.literal('git-repository'),
  project: z.string(),
  repository: z.string(),
  /** The address of one of its pull requests. */
  link: z.string().optional(),
  sinceMs: z.number(),
  /** The runs of its open pull requests. `activeAtMs`: when the agent last worked on it. */
  followed: z.array(z.object({ run: z.string(), number: z.number(), activeAtMs: z.number() })),
  /** When the list was read last, and its ETag. */
  readMs: z.number(),
  etag: z.string().optional(),
  /** After a failure: it is not read before. */
  retryMs: z.number().optional(),
  slots: slotsFirst,
});
export type RepositoryRun = z.infer<typeof repositoryRun>;

const repositoryEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('follow'), run: z.string(), number: z.number(), activeAtMs: z.number() }),
  z.object({ kind: z.literal('unfollow'), run: z.string() }),
]);
export type RepositoryEvent = z.infer<typeof repositoryEvent>;
export const repositoryEvents: EventsOf<RepositoryEvent> = { job: 'git-repository', schema: repositoryEvent };

/** A pull request of the agent, as one followed thread shows it. */
export const pullRequestRun = runBase.extend({
  job: z.literal('pull-request'),
  project: z.string(),
  repository: z.string(),
  number: z.number(),
  link: z.string(),
  /** The run of the thread, its latest round with this pull request, and who asked for that. */
  thread: z.string(),
  round: z.number(),
  author: person,
  /** Another thread asked: it says so there, and posts nothing here. */
  isQuiet: z.boolean().optional(),
  owner: person,
  asked: z.object({ channel: z.string(), isPublic: z.boolean() }),
  inDirectMessage: z.boolean(),
  place: z.object({ channel: z.string(), rootTs: z.string() }),
  /** `accepted` its repository does not follow it yet · `following` · `ended` it is merged, closed, or no longer read */
  state: z.enum(['accepted', 'following', 'ended']),
  sinceMs: z.number(),
  openedAtMs: z.number(),
  activeAtMs: z.number(),
  pull: pull.optional(),
  /** When its head commit was first seen. */
  headAtMs: z.number(),
  details: details.optional(),
  /** When it, or its details, are read; missing if nothing is due. */
  nextReadMs: z.number().optional(),
  /** The head commit whose failed checks were posted last, how many were, and the latest mention. */
  failedSha: z.string().optional(),
  failures: z.number(),
  mentionedAtMs: z.number().optional(),
  slots: slotsFirst,
  remindAtMs: z.number().optional(),
  reminded: z.boolean().optional(),
  /** The read after its end has failed once. */
  endFailed: z.boolean().optional(),
  /** Counts what its thread shows. */
  changes: z.number(),
});
export type PullRequestRun = z.infer<typeof pullRequestRun>;

const pullRequestEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('seen'), pull }),
  /** The agent has worked on it in a further round. */
  z.object({
    kind: z.literal('round'),
    round: z.number(),
    author: person,
    isQuiet: z.boolean().optional(),
    atMs: z.number(),
  }),
]);
export type PullRequestEvent = z.infer<typeof pullRequestEvent>;
export const pullRequestEvents: EventsOf<PullRequestEvent> = {
  job: 'pull-request',
  schema: pullRequestEvent,
};

export const pullRequestKind: VisibleKind<PullRequestRun> = {
  what: 'pull request',
  record: pullRequestRun,
  visible: ({ owner, ...run }) => ({ ...run, by: owner }),
};

export const pullRequestActions = { fix: 'pull_request.fix', open: 'pull_request.open' } as const;

/** The value of [Ask the agent to fix it]. */
export const fixButton = z.object({ v: z.literal(1), run: z.string() });

/** Returns the id of a pull request in a thread. */
export const pullRequestId = (thread: string, repository: string, number: number) =>
  idOf('pull request', thread, repository, String(number));

export function newPullRequest(
  given: Pick<
    PullRequestRun,
    'teamId' | 'project' | 'repository' | 'number' | 'link' | 'thread' | 'round' | 'author' | 'owner'
  > &
    Pick<PullRequestRun, 'asked' | 'inDirectMessage' | 'place' | 'openedAtMs' | 'isQuiet'>,
  nowMs: number,
): PullRequestRun {
  return pullRequestRun.parse({
    ...given,
    id: pullRequestId(given.thread, given.repository, given.number),
    job: 'pull-request',
    rev: 1,
    people: [],
    permanent: true,
    keptMs: retention.pullRequestMs,
    state: 'accepted',
    sinceMs: nowMs,
    activeAtMs: given.openedAtMs,
    headAtMs: nowMs,
    nextReadMs: nowMs,
    failures: 0,
    changes: 0,
  });
}

/** Returns the run that reads the repository of a pull request, which follows none yet. */
export const newRepository = (
  { teamId, project, repository, link }: Pick<PullRequestRun, 'teamId' | 'project' | 'repository' | 'link'>,
  nowMs: number,
): RepositoryRun => ({
  // Another host may have a repository of the same name.
  id: idOf('git repository', teamId, project, URL.parse(link)?.origin ?? '', repository),
  teamId,
  job: 'git-repository',
  rev: 1,
  people: [],
  project,
  repository,
  link,
  sinceMs: nowMs,
  followed: [],
  readMs: 0,
});

const HOUR_MS = 3_600_000;

/** Returns the pause between two looks: short while the agent has worked on it within the hour. */
export const pauseMs = (
  activeAtMs: number,
  nowMs: number,
  { pullRequestsSoonMs, pullRequestsHourlyMs }: Timing,
) => (nowMs - activeAtMs < HOUR_MS ? pullRequestsSoonMs : pullRequestsHourlyMs);

export function applyToRepository(run: RepositoryRun, event: RepositoryEvent): RepositoryRun {
  const followed = run.followed.filter((one) => one.run !== event.run);
  if (event.kind === 'unfollow') return { ...run, followed };
  const { kind, ...one } = event;
  // What has changed since the last answer is asked for again, for this one.
  return { ...run, permanent: true, followed: [...followed, one], etag: undefined };
}

export function applyToPullRequest(
  run: PullRequestRun,
  event: PullRequestEvent,
  nowMs: number,
): PullRequestRun {
  if (event.kind === 'seen') return run.state === 'ended' ? run : withPull(run, event.pull, nowMs);
  const { round, author, isQuiet, atMs } = event;
  const again = { state: 'accepted' as const, sinceMs: nowMs, nextReadMs: nowMs, permanent: true };
  return { ...run, ...again, round, author, isQuiet, activeAtMs: atMs, pull: undefined };
}

/** Returns the run with what its Git host says now. Its details are read again if that is new. */
export function withPull(run: PullRequestRun, pull: Pull, nowMs: number): PullRequestRun {
  if (isDeepStrictEqual(run.pull, pull)) return run;
  const isNewHead = run.pull?.headSha !== pull.headSha;
  return {
    ...run,
    pull,
    nextReadMs: nowMs,
    // A draft waits for nobody.
    ...(pull.isDraft && { remindAtMs: undefined }),
    ...(isNewHead && { headAtMs: nowMs }),
    ...(isNewHead && run.details && { details: { ...run.details, checks: 'none', failed: [] } }),
  };
}

/** Returns what the thread shows. */
export function stateOf(run: PullRequestRun): PullRequestState {
  const { pull } = run;
  return {
    run: run.id,
    state: wordOf(run),
    ...(pull?.state === 'merged' && { by: pull.by, atMs: pull.endedAtMs }),
    ...(run.state === 'ended' && { ended: true }),
  };
}

function wordOf({ pull, details }: PullRequestRun): PullRequestState['state'] {
  if (pull?.state !== 'open') return pull?.state;
  if (details?.checks === 'failed') return 'checksFailed';
  if (pull.isDraft) return 'draft';
  const review = details?.review;
  return review === 'approved' || review === 'changesRequested' ? review : 'open';
}

/** When it was opened; until its Git host has said that, when the agent's first round with it ended. */
export const openedMs = ({ pull, openedAtMs }: PullRequestRun): number => pull?.createdAtMs ?? openedAtMs;

/** Whether it waits for a review. */
export const waitsForReview = ({ pull, details }: PullRequestRun) =>
  pull?.state === 'open' &&
  !pull.isDraft &&
  !['approved', 'changesRequested'].includes(details?.review ?? 'none');

/** Returns one run of each pull request, which several threads may follow: if possible, that of a thread that asked. */
export function distinct(runs: readonly PullRequestRun[]): PullRequestRun[] {
  const sorted = [...runs.filter(({ isQuiet }) => !isQuiet), ...runs.filter(({ isQuiet }) => isQuiet)];
  const nameOf = ({ project, repository, number }: PullRequestRun) => `${project} ${repository}#${number}`;
  return sorted.filter((run, at) => sorted.findIndex((one) => nameOf(one) === nameOf(run)) === at);
}

/** Returns 09:00 in a zone, so many working days (Monday to Friday) after the day of `fromMs`. */
export function afterWorkingDays(fromMs: number, days: number, zone: string): number {
  let atMs = nextOccurrence({ time: '00:00', zone }, fromMs);
  for (let left = days; left > 0; ) {
    atMs = nextOccurrence({ time: '09:00', zone }, atMs);
    const { dayOfWeek } = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(zone);
    if (dayOfWeek <= 5) left -= 1;
  }
  return atMs;
}
