import { isDeepStrictEqual } from 'node:util';
import { type GitHost, GitHostError, type Slots } from '../../git-hosts/git-host.ts';
import type { Details } from '../../git-hosts/pull.ts';
import { Later, wait } from '../../runtime/later.ts';
import type { Message } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { idOf } from '../../store/keys.ts';
import { threadEvents, threadRun } from '../agent/thread/record.ts';
import type { JobContext } from '../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../engine/job.ts';
import { lookupRetryMs } from '../engine/polling.ts';
import { sent } from '../engine/send-event.ts';
import { awaitTime } from '../engine/waits.ts';
import {
  afterWorkingDays,
  applyToPullRequest,
  applyToRepository,
  newRepository,
  type PullRequestEvent,
  type PullRequestRun,
  pauseMs,
  pullRequestEvents,
  pullRequestRun,
  type RepositoryEvent,
  type RepositoryRun,
  repositoryEvents,
  repositoryRun,
  stateOf,
  withPull,
} from './record.ts';
import { endedMessage, failedMessage, reminderMessage } from './view.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Pause after a failed call, and while the settings have no host. */
const FAILED_MS = 5 * MINUTE_MS;

/** A repository may be deleted, or nobody may ever close it: so long after the agent's work, it is no longer read. */
const FOLLOWED_MS = 90 * DAY_MS;

/** Checks of a new commit may begin a little later. */
const CHECKS_BEGIN_MS = 10 * MINUTE_MS;

/** Returns the host of a pull request, or of a repository; undefined if the settings have none now, or another one. */
function hostOf({ project, link = '', repository }: PullRequestRun | RepositoryRun, { gitHost }: JobContext) {
  const host = gitHost(project);
  return host?.parse(link)?.repository === repository ? host : undefined;
}

/**
 * Returns the slots of one step. They are taken before its requests; each has an id of its own, so that a repeated step
 * takes none twice. The list of a repository leaves no room for others to starve it.
 */
function slotsOf(run: PullRequestRun | RepositoryRun, { limit }: GitHost, { store }: JobContext) {
  const priority = run.job === 'git-repository' ? 'interactive' : 'low';
  let [taken, used] = [0, 0];
  const slots: Slots = async (count) => {
    for (; taken < Math.max(used + count, run.slots ?? 0); taken += 1)
      await store.rateLimiter.awaitSlot(limit, { id: `${run.id} ${run.rev} ${taken}`, priority });
    used += count;
  };
  return { slots, limit, wanted: () => (used > 0 ? taken + 1 : undefined) };
}

/**
 * Returns the pause after a failed call. One of the host's limits holds up all calls with its token. If a step gets no
 * slot after its first request, it is saved with the number of slots that the next one takes before all requests.
 */
async function retryOf(
  error: unknown,
  { limit, wanted }: ReturnType<typeof slotsOf>,
  { store }: JobContext,
): Promise<{ inMs: number; slots?: number | undefined }> {
  const slots = wanted();
  if (error instanceof Later && slots !== undefined) return { inMs: error.inMs, slots };
  if (!(error instanceof GitHostError)) throw error;
  if (error.limitMs === undefined) return { inMs: FAILED_MS };
  const inMs = Math.max(error.limitMs, MINUTE_MS);
  await store.rateLimiter.hold(limit, inMs);
  return { inMs };
}

/** Reads the list of a repository for all its pull requests. */
export const repositoryJob = defineRunJob<RepositoryRun, RepositoryEvent>({
  name: 'git-repository',
  queue: 'docs-agent',
  concurrency: 20,
  schema: repositoryRun,
  events: repositoryEvents,
  apply: (run, events) => events.reduce(applyToRepository, run),
  step: readList,
  giveUp: async (run, { now }) => save({ ...run, etag: undefined, retryMs: now() + FAILED_MS }),
});

async function readList(run: RepositoryRun, context: JobContext): Promise<StepResult<RepositoryRun>> {
  const { now, sendEvent, timing } = context;
  const { repository, followed, readMs, etag } = run;
  if (followed.length === 0) return run.permanent ? save({ ...run, permanent: false }) : idle;
  const activeAtMs = Math.max(...followed.map((one) => one.activeAtMs));
  awaitTime(run.retryMs ?? readMs + pauseMs(activeAtMs, readMs, timing), context);
  const host = hostOf(run, context);
  if (host === undefined) return wait(FAILED_MS);
  const beganMs = now();
  const step = slotsOf(run, host, context);
  try {
    // The clock of the host may be behind.
    const sinceMs = (readMs || beganMs) - FAILED_MS;
    const found = await host.list(repository, { etag, sinceMs }, step.slots);
    for (const pull of found?.pulls ?? [])
      for (const { run: id } of followed.filter(({ number }) => number === pull.number)) {
        const name = `seen ${pull.state} ${pull.isDraft} ${pull.headSha} ${pull.updatedAtMs}`;
        await sendEvent(pullRequestEvents, id, { kind: 'seen', pull }, name);
      }
    const read = { readMs: beganMs, retryMs: undefined, slots: undefined };
    return save({ ...run, ...read, ...(found && { etag: found.etag }) });
  } catch (error) {
    const { inMs, slots } = await retryOf(error, step, context);
    return save({ ...run, slots, retryMs: now() + inMs });
  }
}

/** Follows a pull request to its end: says its state to its thread, and posts there what people have to know. */
export const pullRequestJob = defineRunJob<PullRequestRun, PullRequestEvent>({
  name: 'pull-request',
  queue: 'docs-agent',
  concurrency: 50,
  schema: pullRequestRun,
  events: pullRequestEvents,
  apply: (run, events, nowMs) => events.reduce((next, event) => applyToPullRequest(next, event, nowMs), run),
  sends(run) {
    const { id, thread, round: n, number, activeAtMs, changes, sinceMs } = run;
    if (run.state === 'accepted') return [];
    const shown = { kind: 'pullRequest' as const, n, pullRequest: stateOf(run) };
    const event: RepositoryEvent =
      run.state === 'ended' ? { kind: 'unfollow', run: id } : { kind: 'follow', run: id, number, activeAtMs };
    return [
      sent(threadEvents, thread, `pull request ${id} ${changes}`, shown),
      sent(repositoryEvents, newRepository(run, 0).id, `${event.kind} ${id} ${sinceMs}`, event),
    ];
  },
  beforeSave(before, next) {
    const shown = (run: PullRequestRun) => [run.round, stateOf(run)];
    if (isDeepStrictEqual(shown(before), shown(next.run))) return next;
    return { ...next, run: { ...next.run, changes: before.changes + 1 } };
  },
  step,
  giveUp: async (run, context) => save(end({ ...run, pull: undefined }, context)),
});

const end = (run: PullRequestRun, { now }: JobContext): PullRequestRun => ({
  ...run,
  state: 'ended',
  sinceMs: now(),
  permanent: false,
});

async function step(run: PullRequestRun, context: JobContext): Promise<StepResult<PullRequestRun>> {
  const { now } = context;
  if (run.state === 'ended') return idle;
  if (run.state === 'accepted') {
    const repository = newRepository(run, now());
    await context.store.runs.accept(repository);
    return save({ ...run, state: 'following', sinceMs: now() });
  }
  if (now() - run.activeAtMs > FOLLOWED_MS) return save(end(run, context));
  const host = hostOf(run, context);
  if (host === undefined) return wait(FAILED_MS);
  if (run.pull && run.pull.state !== 'open') return finish(run, host, context);
  return (
    (await postFailed(run, context)) ?? (await remind(run, host, context)) ?? readState(run, host, context)
  );
}

/** Publishes a message in the thread once: `name` is unique within the pull request. */
async function post(
  run: PullRequestRun,
  name: string,
  message: Message,
  { outbox }: JobContext,
  more: Partial<OutboxMessage> = {},
) {
  const place = { channel: run.place.channel, threadTs: run.place.rootTs };
  await outbox.publish(run.teamId, { key: `${run.id}.${name}`, place, kind: 'state', message, ...more }, 1);
}

/** Says how it ended. GitHub's list does not have who merged it, and nothing waits for that. */
async function finish(run: PullRequestRun, host: GitHost, context: JobContext) {
  // One that ended before the agent's work was posted in an earlier round. The clock of the host may be behind.
  const isKnown = (run.pull?.endedAtMs ?? Infinity) < run.activeAtMs - MINUTE_MS;
  if (!run.isQuiet && !isKnown) await post(run, 'ended', endedMessage(run), context);
  if (run.pull?.state !== 'merged' || run.pull.by !== undefined) return save(end(run, context));
  if (run.endFailed) awaitTime(run.nextReadMs ?? 0, context);
  const step = slotsOf(run, host, context);
  try {
    const pull = await host.read(run.repository, run.number, step.slots);
    return save(end({ ...run, pull: { ...run.pull, by: pull.by } }, context));
  } catch (error) {
    const { inMs, slots } = await retryOf(error, step, context);
    const again = { ...run, slots, nextReadMs: context.now() + inMs };
    if (slots !== undefined) return save(again);
    // It is tried once more, unless the host refuses it.
    const { status = 0, limitMs } = error as GitHostError;
    const isRefused = status >= 400 && status < 500 && limitMs === undefined;
    return save(run.endFailed || isRefused ? end(run, context) : { ...again, endFailed: true });
  }
}

/** Whether somebody still follows its thread; if not, nobody is asked for anything there. */
async function isFollowed({ thread: id }: PullRequestRun, { store: { runs } }: JobContext) {
  const [thread] = await runs.loadAll([id], threadRun);
  return thread !== undefined && thread.state !== 'ended';
}

/** Posts failed checks once for each head commit. */
async function postFailed(run: PullRequestRun, context: JobContext) {
  const { details, pull, failedSha, failures, mentionedAtMs = 0 } = run;
  if (details?.checks !== 'failed' || pull === undefined || failedSha === pull.headSha) return undefined;
  if (run.isQuiet || !(await isFollowed(run, context))) return undefined;
  const isMention = context.now() - mentionedAtMs >= DAY_MS;
  const more = isMention ? { kind: 'ending' as const, fallbackRecipient: run.author.id } : {};
  await post(run, `checks.${failures + 1}`, failedMessage(run, isMention), context, more);
  return save({
    ...run,
    failedSha: pull.headSha,
    failures: failures + 1,
    ...(isMention && { mentionedAtMs: context.now() }),
  });
}

/** Whether the one reminder is still to come. */
const mayRemind = ({ details, pull, reminded, isQuiet }: PullRequestRun, { settings }: GitHost) =>
  settings.remindAfterDays > 0 &&
  !isQuiet &&
  !reminded &&
  details?.review === 'none' &&
  pull?.state === 'open' &&
  !pull.isDraft;

/** Plans the one reminder, and posts it if nobody has reviewed until then. */
async function remind(run: PullRequestRun, host: GitHost, context: JobContext) {
  const { now } = context;
  const { remindAfterDays: days, remind: whom = run.owner.id } = host.settings;
  const { teamId, project, repository, number, remindAtMs } = run;
  if (!mayRemind(run, host)) return undefined;
  if (remindAtMs === undefined) {
    const zone = context.slack.personZone(run.owner.id).catch(() => {
      throw new Later(lookupRetryMs(context));
    });
    // One that was a draft waits from now on.
    return save({ ...run, remindAtMs: afterWorkingDays(now(), days, (await zone) ?? 'UTC') });
  }
  if (now() < remindAtMs) return undefined;
  if (!(await isFollowed(run, context))) return save({ ...run, reminded: true });
  const step = slotsOf(run, host, context);
  try {
    // What is stored may be an hour old.
    const pull = await host.read(repository, number, step.slots);
    const details = await host.details(repository, pull, step.slots);
    const next = withDetails(withPull({ ...run, slots: undefined }, pull, now()), details, context);
    if (!mayRemind(next, host)) return save(next);
    // Another thread may have reminded of it.
    if (
      await context.store.runs.takeAlias(idOf('reminder', teamId, project, repository, `${number}`), run.id)
    )
      await post(next, 'reminder', reminderMessage(next, whom, days), context, { kind: 'ending' });
    return save({ ...next, reminded: true });
  } catch (error) {
    const { inMs, slots } = await retryOf(error, step, context);
    return save({ ...run, slots, remindAtMs: now() + inMs });
  }
}

/** Returns the run with its reviews and checks, and when these are read again. */
function withDetails(run: PullRequestRun, details: Details, { now, timing }: JobContext): PullRequestRun {
  const { checks } = details;
  // A check does not update the pull request, so the list does not have it.
  const isSoon = checks === 'running' || now() - run.headAtMs < CHECKS_BEGIN_MS;
  const soonMs = isSoon ? pauseMs(run.activeAtMs, now(), timing) : Infinity;
  const pause = Math.min(soonMs, checks === 'failed' ? timing.pullRequestsHourlyMs : Infinity);
  return { ...run, details, nextReadMs: pause === Infinity ? undefined : now() + pause };
}

/** Reads the pull request, then its reviews and checks, when that is due. */
async function readState(
  run: PullRequestRun,
  host: GitHost,
  context: JobContext,
): Promise<StepResult<PullRequestRun>> {
  const { now } = context;
  const { repository, number, pull, nextReadMs = Infinity, remindAtMs = Infinity } = run;
  const remindMs = mayRemind(run, host) ? remindAtMs : Infinity;
  if (now() < nextReadMs) return wait(Math.min(nextReadMs, remindMs, now() + DAY_MS) - now());
  const step = slotsOf(run, host, context);
  const read = { ...run, slots: undefined };
  try {
    if (pull === undefined)
      return save(withPull(read, await host.read(repository, number, step.slots), now()));
    return save(withDetails(read, await host.details(repository, pull, step.slots), context));
  } catch (error) {
    const { inMs, slots } = await retryOf(error, step, context);
    return save({ ...run, slots, nextReadMs: now() + inMs });
  }
}
