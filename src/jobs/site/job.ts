import { DocsApiError } from '../../docs-api/errors.ts';
import type { SiteStatus } from '../../docs-api/operations.ts';
import { threadEvents } from '../agent/thread/record.ts';
import type { JobContext } from '../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../engine/job.ts';
import { nextFailure } from '../engine/polling.ts';
import { type Sent, sent } from '../engine/send-event.ts';
import { awaitTime, permitted } from '../engine/waits.ts';
import { type ExportSchedule, exportScheduleEvents } from '../export-schedule/record.ts';
import { definePoll, pollLater, retryAt } from '../operation/poll.ts';
import { defineStart, nextTry, refusalOf } from '../operation/start.ts';
import { awaitCard } from '../shared/place.ts';
import { reportPrivately } from '../shared/report.ts';
import { noPlaceMessage } from '../shared/wording-view.ts';
import { siteNeeds, startLimit } from './feature.ts';
import {
  advance,
  previewAlias,
  previewSupport,
  type SiteEnding,
  type SiteRun,
  siteEvents,
  siteRun,
} from './record.ts';
import { lineKey, siteMessages, subject } from './view.ts';

type Result = Promise<StepResult<SiteRun>>;

const steps: Record<SiteRun['state'], (run: SiteRun, context: JobContext) => Result> = {
  postingCard: postLine,
  starting: start,
  unknown: (run, context) => starts.awaitAnswer(run, context),
  watching: (run, context) => builds.poll(run, context),
  ended: handleEnded,
};

/** Takes a preview of a branch, or an update of a site, from the request to its ending. */
export const siteJob = defineRunJob({
  name: 'site',
  queue: 'docs-agent',
  concurrency: 100,
  schema: siteRun,
  messages: siteMessages,
  sends,
  needs: siteNeeds.of,
  releasesClaim: ({ state }) => state === 'ended',
  auditLine: (run) => ({ user: run.by, channel: run.asked.channel, what: 'site', subject: subject(run) }),
  events: siteEvents,
  apply: (run) => ({ ...run, isOlder: true }),
  step: (run, context) => steps[run.state](run, context),
  giveUp: async (run, context, ref) => end(run, { kind: 'broken', ref }, context),
});

const end = (run: SiteRun, ending: SiteEnding, { now }: JobContext) =>
  save(advance(run, { state: 'ended', ending }, now()), { audit: `ended: ${ending.kind}` });

/** The followed thread shows that its preview is being built, or its address if it shows the agent's latest work. */
function sends(run: SiteRun, context: JobContext): Sent[] | Promise<Sent[]> {
  const { id, attempt, branch, by, ending, isOlder, previewUrl, state, thread } = run;
  if (branch === undefined) return ending?.kind === 'done' ? afterUpdate(run, context) : [];
  if (thread === undefined) return [];
  const isBuilding = state !== 'unknown' && state !== 'ended';
  const url = ending?.kind === 'done' && !isOlder ? previewUrl : undefined;
  const preview = { kind: 'preview' as const, run: id, by, isBuilding, url };
  const key = ['preview', id, attempt, isBuilding, url !== undefined].join(' ');
  const events = [sent(threadEvents, thread.id, key, preview)];
  if (lacksPreviews(ending)) events.push(sent(threadEvents, thread.id, `none ${id}`, { kind: 'noPreviews' }));
  return events;
}

/** A 404 may be about the branch. */
const lacksPreviews = (ending: SiteRun['ending']) =>
  ending?.kind === 'notStarted' && (ending.why === 'unsupported' || ending.why === 'plan');

/** Returns the events for the schedules of all workspaces that export the site after each update. */
export async function afterUpdate(
  run: SiteRun,
  {
    store: { runs },
    platform: { teamsOf },
  }: {
    store: { runs: Pick<JobContext['store']['runs'], 'indexed'> };
    platform: Pick<JobContext['platform'], 'teamsOf'>;
  },
): Promise<Sent[]> {
  const found = teamsOf(run).map((team) => runs.indexed<ExportSchedule>('export-schedule', team));
  return (await Promise.all(found))
    .flat()
    .filter(({ project, timetable }) => project === run.project && timetable.afterUpdates)
    .map(({ id }) => sent(exportScheduleEvents, id, `update ${run.id}`, { kind: 'siteUpdated' }));
}

async function postLine(run: SiteRun, context: JobContext): Result {
  // The thread's own messages say that it is being built.
  const line = run.thread ? { kind: 'shown' as const } : await awaitCard(run, lineKey(run), context);
  if (line.kind === 'elsewhere') return save({ ...run, inDirectMessage: true });
  if (line.kind === 'refused') return end(run, { kind: 'noPlace', code: line.code }, context);
  return save(advance(run, { state: 'starting' }, context.now()));
}

/** Returns what the platform takes of such starts, if the settings still have the project. */
function limitOf({ branch, project }: SiteRun, { platform, settings }: JobContext) {
  const docs = platform.docs(project);
  const organization = settings.projects.find(({ name }) => name === project)?.organization;
  return docs && startLimit(branch !== undefined, organization, docs.keyId);
}

async function start(run: SiteRun, context: JobContext): Result {
  const { now, store } = context;
  awaitTime(run.nextPollAtMs, context);
  // The late answer to the start before needs no slot.
  const late = run.attempt > 1 ? await starts.late(run, run.attempt - 1, context) : undefined;
  if (late) return late;
  const limit = limitOf(run, context);
  const inMs = limit ? await store.rateLimiter.takeSlot(limit, { id: `${run.id} ${run.attempt}` }) : 0;
  if (inMs > 0) return retryAt(run, { kind: 'limit', inARow: 1, nextMs: now() + inMs }, context);
  return starts.start(run, context);
}

/** The platform's id of what it builds, and the address of a preview. */
interface Build {
  statusId: string;
  previewUrl?: string | undefined;
}

const starts = defineStart<SiteRun, Build>({
  limitMs: ({ timing }) => timing.docsCallMs,

  async prepare({ by, project, branch }, context) {
    const { platform } = context;
    const [docs, projectId] = [platform.docs(project), platform.projectId(project)];
    const permission = await permitted(by.id, 'site', context);
    if (permission.kind === 'refused') return { why: 'permission', contacts: permission.contacts };
    if (docs === undefined || projectId === undefined) return { why: 'project' };
    return (isTooLate) =>
      branch === undefined
        ? docs.updateSite({ projectId }, { isTooLate })
        : docs.previewBranch({ projectId, branch }, { isTooLate });
  },

  /** Its thread finds the run by an alias. */
  async started(run, { statusId, previewUrl }, context) {
    const { store, now } = context;
    const { id, branch, thread } = run;
    if (branch !== undefined) await store.support.markThere(previewSupport(run.teamId, run.project));
    if (thread && branch !== undefined) await store.runs.alias(previewAlias(thread.id, branch), id);
    const started = { state: 'watching' as const, startedAtMs: now(), statusId, previewUrl };
    return pollLater(advance(run, started, now()), context);
  },

  unclear(run, err, { log, now }) {
    log.warn({ run: run.id, err }, 'start of a preview or an update: outcome unknown');
    return advance(run, { state: 'unknown' }, now());
  },
  notAllowed: (run, why, context) => end(run, { kind: 'notStarted', ...why }, context),

  async refused(run, error, context) {
    const { timing, now, store, log } = context;
    const failure = nextTry(run, error, timing, context);
    if (!(error instanceof DocsApiError)) throw error;
    const limit = limitOf(run, context);
    if (limit && error.kind === 'rate_limited')
      await store.rateLimiter.hold(limit, nextFailure(run.pollFailure, error, context).nextMs - now());
    if (failure) return retryAt(run, failure, context);
    log.info({ run: run.id, err: error }, 'the platform refused a preview or an update');
    const lacks = { not_found: 'notFound', unsupported: 'unsupported' } as const;
    const refusal = await refusalOf(run, error, context);
    const why = lacks[error.kind as keyof typeof lacks] ?? refusal.why;
    const ending = { kind: 'notStarted' as const, ...refusal, why };
    if (run.branch !== undefined && lacksPreviews(ending))
      await store.support.markMissing(previewSupport(run.teamId, run.project));
    return end(run, ending, context);
  },
});

const builds = definePoll<SiteRun, SiteStatus>({
  kind: 'site-status',
  get: ({ statusId = '' }, docs, signal) => docs.getSiteStatus({ statusId }, { signal }),
  lost: (run, context) => end(run, { kind: 'lost' }, context),
  gaveUp: (run, afterMs, context) => end(run, { kind: 'gaveUp', afterMs }, context),
  seen(run, { status, rawStatus, log, changed, picture }, context) {
    if (status === 'ended') return end(run, { kind: 'otherwise', status: rawStatus }, context);
    if (status === 'success') return end(run, { kind: 'done', changed, picture }, context);
    if (status === 'failure') return end(run, { kind: 'failed', log }, context);
    const shown = status === 'unknown' ? rawStatus : status;
    return pollLater({ ...run, status: shown, pollFailure: undefined }, context);
  },
});

/** Answers privately if nothing could be posted. */
async function handleEnded(run: SiteRun, context: JobContext): Result {
  const { ending, by, asked } = run;
  if (ending?.kind !== 'noPlace') return idle;
  const message = noPlaceMessage(asked.joinable, ending.code, 'started');
  await reportPrivately(run, { name: 'refused', userId: by.id, message }, context);
  return idle;
}
