import type { DocsApi } from '../../docs-api/client.ts';
import { DocsApiError } from '../../docs-api/errors.ts';
import type { ThreadEvent } from '../agent/thread/record.ts';
import type { JobContext } from '../engine/context.ts';
import { defineRunJob, idle, idleWithClaim, type StepResult, save, wait } from '../engine/job.ts';
import { lookupRetryMs, nextFailure, nextPollMs, type PollFailure, pollJob } from '../engine/polling.ts';
import { NOT_STARTED_REASONS } from '../export/job.ts';
import type { ExportSchedule } from '../export-schedule/record.ts';
import { loadCardState, reportPrivately } from '../shared/report.ts';
import { noPlaceMessage } from '../shared/wording-view.ts';
import { siteNeeds, startLimit } from './feature.ts';
import { advance, previewAlias, previewSupport, type SiteEnding, type SiteRun, siteRun } from './record.ts';
import { lineKey, siteMessages, subject } from './view.ts';

type Result = Promise<StepResult<SiteRun>>;

const steps: Record<SiteRun['state'], (run: SiteRun, context: JobContext) => Result> = {
  postingCard: awaitLine,
  starting: start,
  unknown: async (run, context) => (await beginLate(run, run.attempt, context)) ?? idleWithClaim,
  watching: poll,
  ended: handleEnded,
};

/** Takes a preview of a branch, or an update of a site, from the request to its ending. */
export const siteJob = defineRunJob({
  name: 'site',
  queue: 'docs-agent',
  concurrency: 100,
  schema: siteRun,
  messages: siteMessages,
  needs: siteNeeds.of,
  hasEnded: ({ state }) => state === 'ended',
  auditLine: (run) => ({ user: run.by, channel: run.asked.channel, what: 'site', subject: subject(run) }),
  // An entry in the inbox says that a round of the agent has ended, which the preview does not show.
  async step({ run, inbox }, context) {
    await informThread(run, context);
    if (inbox.length > 0) return save({ ...run, isOlder: true }, { consumed: inbox.length });
    return steps[run.state](run, context);
  },
  giveUp: ({ run }, context, ref) => end(run, { kind: 'broken', ref }, context),
});

const end = async (run: SiteRun, ending: SiteEnding, { now }: JobContext) =>
  save(advance(run, { state: 'ended', ending }, now()), { audit: `ended: ${ending.kind}` });

const retryAfter = (run: SiteRun, pollFailure: PollFailure, { now }: JobContext) =>
  save({ ...run, pollFailure, nextPollAtMs: pollFailure.nextMs }, { inMs: pollFailure.nextMs - now() });

/** Lets the followed thread show that its preview is being built, or its address if it shows the agent's latest work. */
async function informThread(run: SiteRun, { runs, wake }: JobContext) {
  const { id, attempt, by, ending, isOlder, previewUrl, state, thread } = run;
  if (thread === undefined) return;
  const isBuilding = state !== 'unknown' && state !== 'ended';
  const url = ending?.kind === 'done' && !isOlder ? previewUrl : undefined;
  const event: ThreadEvent = { kind: 'preview', run: id, by, isBuilding, url };
  const dedupeKey = ['preview', id, attempt, isBuilding, url !== undefined].join(' ');
  const outcome = await runs.appendToInbox('agent-thread', thread.id, { event, dedupeKey });
  if (outcome === 'kept') await wake({ job: 'agent-thread', id: thread.id });
}

async function awaitLine(run: SiteRun, context: JobContext): Result {
  // The thread's own messages say that it is being built.
  if (run.thread) return save(advance(run, { state: 'starting' }, context.now()));
  const line = await loadCardState(run, lineKey(run), context);
  if (line.kind === 'waiting') return wait(line.inMs);
  if (line.kind === 'elsewhere') return save({ ...run, inDirectMessage: true });
  if (line.kind === 'refused') return end(run, { kind: 'noPlace', code: line.code }, context);
  return save(advance(run, { state: 'starting' }, context.now()));
}

/** Returns the name of the call that starts the present attempt. */
export const siteStartStep = ({ attempt }: Pick<SiteRun, 'attempt'>) => `start.${attempt}`;

/** Starts it at the platform, once. */
async function start(run: SiteRun, context: JobContext): Result {
  const { now, policy, projects, rateLimiter, timing, log } = context;
  if (now() < run.nextPollAtMs) return wait(run.nextPollAtMs - now());
  // A person chose to start again, but the first start's answer has come: it did start.
  const late = run.attempt > 1 ? await beginLate(run, run.attempt - 1, context) : undefined;
  if (late !== undefined) return late;
  const { branch } = run;
  const [docs, projectId] = [context.docs(run.project), context.projectId(run.project)];
  const organization = projects.find(({ name }) => name === run.project)?.organization;
  const limit = docs && startLimit(branch !== undefined, organization, docs.keyId);
  const slotInMs = limit ? await rateLimiter.takeSlot(limit, { id: `${run.id} ${run.attempt}` }) : 0;
  if (slotInMs > 0) return retryAfter(run, { kind: 'limit', inARow: 1, nextMs: now() + slotInMs }, context);
  // The settings or the permission may have changed since the request. `callOnce` still finds an earlier start.
  const permission = await policy.check(run.by.id, 'site');
  if (permission.kind === 'unknown') return wait(lookupRetryMs(context));
  const outcome = await context.callOnce(run, siteStartStep(run), timing.docsCallMs, async (isTooLate) => {
    if (docs === undefined || projectId === undefined || permission.kind === 'refused')
      throw new DocsApiError('updateSite', 'bad_request', { happened: 'no', what: 'not permitted' });
    return branch === undefined
      ? docs.updateSite({ projectId }, { isTooLate })
      : docs.previewBranch({ projectId, branch }, { isTooLate });
  });
  if (outcome.kind === 'done') return begin(run, outcome.value, context);
  if (outcome.kind === 'inFlight') return wait(outcome.forMs);
  const { error } = outcome;
  if (outcome.kind === 'unknown') {
    log.warn({ run: run.id, err: error }, 'start of a preview or an update: outcome unknown');
    return save(advance(run, { state: 'unknown' }, now()), { audit: 'start unclear' });
  }
  if (!(error instanceof DocsApiError)) throw error;
  if (permission.kind === 'refused')
    return end(run, { kind: 'notStarted', why: 'permission', contacts: permission.contacts }, context);
  if (limit && error.kind === 'rate_limited')
    await rateLimiter.hold(limit, nextFailure(run.pollFailure, error, context).nextMs - now());
  if (limit && projectId !== undefined) return handleRefusal(run, error, context);
  return end(run, { kind: 'notStarted', why: 'project' }, context);
}

/** After a start that certainly did not happen: tries again later, or ends the run. */
async function handleRefusal(run: SiteRun, error: DocsApiError, context: JobContext): Result {
  const { kind, platformMessage: reason, retryAfterMs } = error;
  const { timing, log, support, runs, wake } = context;
  if (kind === 'aborted') return wait(0);
  const failure = nextFailure(run.pollFailure, error, context);
  const maxWaitMs = retryAfterMs === undefined ? timing.giveUpMs : timing.limitWaitMs;
  if (error.retryable && failure.nextMs <= run.sinceMs + maxWaitMs) return retryAfter(run, failure, context);
  log.info({ run: run.id, err: error }, 'the platform refused a preview or an update');
  // A 404 may be about the branch.
  if (run.branch !== undefined && (kind === 'unsupported' || kind === 'forbidden')) {
    await support.markMissing(previewSupport(run.teamId, run.project));
    const thread = run.thread && { job: 'agent-thread', id: run.thread.id };
    if (thread) await runs.appendToInbox(thread.job, thread.id, { event: { kind: 'noPreviews' } });
    if (thread) await wake(thread);
  }
  const lacks = kind === 'not_found' ? 'notFound' : kind === 'unsupported' ? kind : undefined;
  const why = lacks ?? NOT_STARTED_REASONS[kind] ?? 'other';
  const needsOperator = why === 'key' || why === 'plan';
  const adminsAlerted = needsOperator && (await context.alertAdmins(run.teamId, run.project, error));
  return end(run, { kind: 'notStarted', why, reason, adminsAlerted }, context);
}

/** Watches a build that the platform has accepted. Its thread finds the run by an alias. */
async function begin(
  run: SiteRun,
  { statusId, previewUrl }: { statusId: string; previewUrl?: string | undefined },
  context: JobContext,
) {
  const { id, branch, thread } = run;
  const startedAtMs = context.now();
  if (branch !== undefined) await context.support.markThere(previewSupport(run.teamId, run.project));
  if (thread && branch !== undefined) await context.runs.alias(previewAlias(thread.id, branch), id);
  const started = { state: 'watching' as const, startedAtMs, statusId, previewUrl };
  return pollLater(advance(run, started, startedAtMs), context);
}

/** If the platform has answered the start of that attempt, watches it; else returns undefined. */
async function beginLate(run: SiteRun, attempt: number, context: JobContext) {
  const late = await context.callResult(run.id, siteStartStep({ attempt }));
  const answer = { attempt, by: run.by, action: 'late' as const };
  return late && begin({ ...run, answer }, late.result as Parameters<typeof begin>[1], context);
}

function pollLater(run: SiteRun, { now, timing, random }: JobContext) {
  const inMs = nextPollMs({ startedAtMs: run.sinceMs }, now(), timing, random());
  return save({ ...run, nextPollAtMs: now() + inMs }, { inMs });
}

/** Consecutive "not found" answers before a build counts as lost: some servers may not know a new one yet. */
const LOST_AFTER = 3;

async function poll(run: SiteRun, context: JobContext): Result {
  const { now, timing, stopping: signal } = context;
  const { statusId = '', sinceMs } = run;
  if (now() >= sinceMs + timing.watchMs)
    return end(run, { kind: 'gaveUp', afterMs: now() - sinceMs }, context);
  const get = (docs: DocsApi) => docs.getSiteStatus({ statusId }, { signal });
  const polled = await pollJob(run, 'site-status', context.docs(run.project), get, context);
  if ('inMs' in polled) return wait(polled.inMs);
  if ('failure' in polled) {
    const { failure } = polled;
    const isLost = failure.kind === 'lost' && failure.inARow >= LOST_AFTER;
    return isLost ? end(run, { kind: 'lost' }, context) : retryAfter(run, failure, context);
  }
  const { status, rawStatus, log } = polled.job;
  if (status === 'ended') return end(run, { kind: 'otherwise', status: rawStatus }, context);
  if (status === 'success' && run.branch === undefined) await wakeSchedules(run, context);
  if (status === 'success') return end(run, { kind: 'done' }, context);
  if (status === 'failure') return end(run, { kind: 'failed', log }, context);
  const shown = status === 'unknown' ? rawStatus : status;
  return pollLater({ ...run, status: shown, pollFailure: undefined }, context);
}

/** Wakes the schedules of all workspaces that export the site after each update, once for this update. */
export async function wakeSchedules(
  run: SiteRun,
  { runs, teamsOf, wake }: Pick<JobContext, 'runs' | 'teamsOf' | 'wake'>,
) {
  const found = teamsOf(run).map((team) => runs.indexed<ExportSchedule>('export-schedule', team));
  for (const one of (await Promise.all(found)).flat()) {
    if (one.project !== run.project || !one.timetable.afterUpdates) continue;
    await runs.appendToInbox(one.job, one.id, { event: {}, dedupeKey: `update ${run.id}` });
    await wake(one);
  }
}

/** Answers privately if nothing could be posted. */
async function handleEnded(run: SiteRun, context: JobContext): Result {
  const { ending, by, asked } = run;
  if (ending?.kind !== 'noPlace') return idle;
  const message = noPlaceMessage(asked.joinable, ending.code, 'started');
  const inMs = await reportPrivately(run, { name: 'refused', userId: by.id, message }, context);
  return inMs > 0 ? wait(inMs) : idle;
}
