import { isDeepStrictEqual } from 'node:util';
import { wait } from '../../runtime/later.ts';
import { claimMsOf } from '../../runtime/timing.ts';
import type { Message } from '../../slack/blocks.ts';
import { followsOf, newUpdate, stateOf, updateRun } from '../deployment/record.ts';
import type { JobContext } from '../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../engine/job.ts';
import { permitted } from '../engine/waits.ts';
import { cardPermalink } from '../export/feature.ts';
import { type ExportRun, exportQuotas, exportRun } from '../export/record.ts';
import { standingKey } from '../export/view.ts';
import { countFailure, countSuccess, dueTimes, end, pause, replan } from '../schedule/record.ts';
import { announceTakeover, awaitTest, publish, publishRefusal, workCheckMs } from '../schedule/steps.ts';
import { canSee } from '../shared/origin.ts';
import {
  type ExportSchedule,
  exportNow,
  exportSchedule,
  exportScheduleEvents,
  isExporting,
  type Latest,
  scheduledExport,
} from './record.ts';
import { exportScheduleMessages, exportScheduleNotes, exportScheduleViews } from './view.ts';

type Result = StepResult<ExportSchedule>;

/** If an export was missed, it starts up to this long after its due time. */
const CATCH_UP_MS = 24 * 3_600_000;

/** If the number of pages changes by more than this part, a message mentions the owner. */
const MAX_CHANGE = 0.2;

/** Accepts an export when it is due, and shows its result in one message. */
export const exportScheduleJob = defineRunJob({
  name: 'export-schedule',
  queue: 'docs-export',
  concurrency: 20,
  schema: exportSchedule,
  messages: exportScheduleMessages,
  releasesClaim: ({ state }) => state === 'removed',
  auditLine: ({ owner, channel, site }) => ({
    user: owner,
    channel,
    what: 'export schedule',
    subject: site,
  }),
  events: exportScheduleEvents,
  // While it is set up, events wait.
  apply: (run, _, nowMs) => (run.state === 'testing' ? undefined : afterUpdate(run, nowMs)),
  step,
  giveUp,
});

/** Returns the schedule due now, if it follows updates. */
const afterUpdate = (run: ExportSchedule, nextAtMs: number): ExportSchedule =>
  run.timetable.afterUpdates ? { ...run, nextAtMs } : run;

async function step(run: ExportSchedule, context: JobContext): Promise<Result> {
  if (run.state === 'testing') return awaitTest(run, standingKey(run.id), exportScheduleViews, context);
  if (run.state === 'removed') return idle;
  return (
    (await announceTakeover(run, exportScheduleViews, context)) ??
    (await followExport(run, context)) ??
    (await followUpdates(run, context)) ??
    startDue(run, context)
  );
}

/** Publishes a message once in the schedule's thread; the owner gets it by direct message if the thread refuses it. */
const publishInThread = (run: ExportSchedule, name: string, message: Message, context: JobContext) =>
  publish(run, name, { under: standingKey(run.id) }, message, context, { fallbackRecipient: run.owner.id });

/** Follows the latest export until it succeeds; a person may resume a failed one. Returns undefined if nothing changed. */
async function followExport(run: ExportSchedule, context: JobContext): Promise<Result | undefined> {
  const { latest } = run;
  if (latest === undefined || (latest.state === 'ended' && latest.ending === 'done')) return undefined;
  if (latest.run === undefined) {
    if (latest.state === 'ended') return undefined;
    // While its export waited for a place, the schedule was paused.
    const isTakenBack = run.state === 'paused' && latest.dueAtMs < run.sinceMs;
    return isTakenBack ? save({ ...run, latest: undefined }) : acceptExport(run, latest, context);
  }
  // Unlike `load`, it skips a damaged record.
  const [found] = await context.store.runs.loadAll([latest.run], exportRun);
  if (found?.state !== 'ended') {
    const state = found === undefined ? 'ended' : found.state === 'unknown' ? 'unclear' : 'running';
    if (state === latest.state) return undefined;
    return save({ ...run, latest: { ...latest, state, ...(found === undefined && { ending: 'broken' }) } });
  }
  if (latest.state === 'ended' && latest.endedAtMs === found.sinceMs) return undefined;
  return recordOutcome(run, latest, found, context);
}

/** Everybody in the schedule's channel. */
const allIn = ({ channel: id }: ExportSchedule) => ({ user: { id: '', fullMember: true }, channel: { id } });

/**
 * Accepts the export of a due time. If the same export is running, and everybody gets its link, joins that one. If too many
 * are running, it waits for a place.
 */
async function acceptExport(run: ExportSchedule, latest: Latest, context: JobContext) {
  const { wake, now, timing } = context;
  const { runs } = context.store;
  const { limits, linksTo: links } = context.settings;
  const wanted = scheduledExport(run, latest.dueAtMs, { links, now });
  const quotas = exportQuotas(wanted, limits);
  let acceptance = await runs.accept(wanted, { claimMs: claimMsOf(timing), quotas });
  const by = acceptance.kind === 'claimed' ? acceptance.by : undefined;
  const [other] = await runs.loadAll(by === undefined ? [] : [by], exportRun);
  // One that a person has just ended holds the claim until its next step.
  const isRunning = other && other.state !== 'ended' && !other.privately;
  const isOpen = isRunning && (await canSee(other, allIn(run), context.slack.isPublic));
  // An export from before the update may lack it. This one runs beside an export that does not serve.
  const joined = isOpen === true && !(latest.isOfUpdate && other.attemptAtMs < latest.dueAtMs);
  if (by !== undefined && !joined) acceptance = await runs.accept(wanted, { quotas });
  if (acceptance.kind === 'full') {
    const of = acceptance.quota === 0 ? ('owner' as const) : ('channel' as const);
    const full = { of, max: quotas[acceptance.quota]?.max ?? 0 };
    if (isDeepStrictEqual(latest.full, full)) return undefined;
    return save({ ...run, latest: { ...latest, full } }, { audit: 'waits: too many exports at once' });
  }
  const next = { ...run, latest: { ...latest, full: undefined, run: joined ? other.id : wanted.id, joined } };
  if (joined) await publishJoined(next, other, context);
  else await wake(wanted);
  return save(next, { audit: joined ? 'joined a running export' : 'export accepted' });
}

async function publishJoined(run: ExportSchedule, other: ExportRun, context: JobContext) {
  const { slack, outbox } = context;
  const workspaceUrl = slack.workspaceUrl();
  const thread = await cardPermalink(other, allIn(run), { outbox, isPublic: slack.isPublic, workspaceUrl });
  const { dueAtMs, ending = 'done' } = run.latest ?? {};
  const isFailed = ending !== 'done' && ending !== 'left';
  // An edit would notify nobody.
  const name = `${isFailed ? 'failed' : 'joined'}.${dueAtMs}`;
  await publishInThread(run, name, exportScheduleNotes.joined(run, thread, isFailed), context);
}

/** Records how an export ended. A failed export has posted messages of its own, unless the schedule joined it. */
async function recordOutcome(
  run: ExportSchedule,
  latest: Latest,
  found: ExportRun,
  context: JobContext,
): Promise<Result> {
  const nowMs = context.now();
  const ending = found.ending?.kind ?? 'broken';
  // Anybody who may export can name a job of this site, so what that person may not deploy stays where it is.
  const isNamed = found.answer?.action === 'watchIt' && found.answer.attempt === found.attempt;
  const named = isNamed && ending === 'done' && run.deployments.length > 0 ? found.answer : undefined;
  const permission = named && (await permitted(named.by.id, 'deploy', context));
  const isRefused = permission?.kind === 'refused';
  const ended: ExportSchedule = {
    ...run,
    latest: { ...latest, state: 'ended', ending, endedAtMs: found.sinceMs },
  };
  let next = ended;
  if (ending === 'done') {
    const { completedAtMs: atMs = found.sinceMs } = found;
    // If the choice of pages has changed since the start, the next export is not compared with this one.
    const isChosen = isDeepStrictEqual(found.paths?.toSorted(), run.paths?.toSorted());
    const pages = isChosen ? found.pageCount : undefined;
    const updates = isRefused ? [] : await updateDeployments(run, found, context);
    const exported = { atMs, pages, pagesBefore: run.exported?.pages, updates };
    next = countSuccess({ ...ended, exported }, nowMs);
    // One failure for each due time, even if people try again; none if a person chose [Leave it].
  } else if (latest.ending === undefined && ending !== 'left') next = countFailure(ended, nowMs);
  const name = `${latest.dueAtMs}.${found.attempt}.${found.resumed}`;
  if (latest.joined) await publishJoined(next, found, context);
  const notDeployed = isRefused && named && exportScheduleNotes.notDeployed(next, named.by.name);
  if (notDeployed) await publishInThread(next, `not-deployed.${name}`, notDeployed, context);
  const { pages, pagesBefore = pages } = next.exported ?? {};
  if (found.ending?.kind === 'noPlace') {
    const message = exportScheduleNotes.noPlace(next, found.ending.code);
    await publish(next, `no-place.${name}`, { user: run.owner.id }, message, context);
  } else if (ending === 'done' && pages !== undefined && pagesBefore !== undefined) {
    const message = exportScheduleNotes.pagesChanged(next, pages, pagesBefore);
    const isFarOff = Math.abs(pages - pagesBefore) > MAX_CHANGE * pagesBefore;
    if (isFarOff) await publishInThread(next, `pages.${name}`, message, context);
  }
  const isPaused = next.state === 'paused' && run.state === 'active';
  if (isPaused) await publishInThread(next, `paused.${name}`, exportScheduleNotes.paused(next), context);
  return save(next, isPaused ? { audit: `paused: failed ${next.failures} times` } : {});
}

/** Starts the update of each deployment, in the owner's name, unless a person started it already. */
async function updateDeployments(
  run: ExportSchedule,
  found: ExportRun,
  { wake, now, store: { runs } }: JobContext,
) {
  const { id: schedule, owner: by, channel, isPublic } = run;
  const place = { under: standingKey(schedule), asked: { channel, isPublic }, inDirectMessage: false };
  const before = await runs.loadAll(run.exported?.updates.map(({ id }) => id) ?? [], updateRun);
  const updates = run.deployments.map((deployment) => {
    const update = newUpdate(found, { deployment, ...place, by, schedule }, now());
    const previous = before.find((one) => one.deployment === deployment);
    return { ...update, follows: followsOf(update, previous) };
  });
  for (const update of updates) {
    await runs.accept(update);
    await wake(update);
  }
  return updates.map(stateOf);
}

/** Each step of an update wakes the schedule. If the record has the updates' states already, returns undefined. */
async function followUpdates(
  run: ExportSchedule,
  { store: { runs } }: JobContext,
): Promise<Result | undefined> {
  const { exported } = run;
  if (exported === undefined || exported.updates.length === 0) return undefined;
  const found = await runs.loadAll(
    exported.updates.map(({ id }) => id),
    updateRun,
  );
  const updates = exported.updates.map((known) => {
    const update = found.find(({ id }) => id === known.id);
    return update ? stateOf(update) : known;
  });
  if (isDeepStrictEqual(updates, exported.updates)) return undefined;
  return save({ ...run, exported: { ...exported, updates } });
}

/** Begins the export that is due, unless one is running. */
async function startDue(run: ExportSchedule, context: JobContext): Promise<Result> {
  const nowMs = context.now();
  const checkMs = workCheckMs(isExporting(run) ? run.latest?.dueAtMs : undefined, context);
  if (run.state !== 'active') return wait(checkMs);
  if (nowMs < run.nextAtMs) return wait(Math.min(checkMs, run.nextAtMs - nowMs));
  const { afterUpdates } = run.timetable;
  // The running export serves this due time, too, unless that is an update. While its question is open, it waits.
  if (run.latest?.state === 'running' && !afterUpdates) return save(replan(run, nowMs));
  // Other people may leave the question about their export open for days.
  if (isExporting(run) && !run.latest?.joined) return wait(checkMs);
  const { dueAtMs, missed, nextAtMs } = dueTimes(run, nowMs, afterUpdates ? Infinity : CATCH_UP_MS);
  const owner = dueAtMs === undefined ? undefined : await permitted(run.owner.id, 'export', context);
  const next = { ...run, nextAtMs };
  const lastMissedMs = missed.at(-1);
  if (lastMissedMs !== undefined)
    await publishInThread(run, `skipped.${lastMissedMs}`, exportScheduleNotes.skipped(missed), context);
  if (owner?.kind === 'refused') {
    const hasLeft = !owner.person.active;
    await publishRefusal(run, hasLeft, exportScheduleViews, context);
    const paused = { ...pause(next, 'permission', nowMs), ownerLeft: hasLeft || undefined };
    return save(paused, { audit: 'paused: not permitted' });
  }
  const audit = missed.length > 0 ? { audit: `skipped: ${missed.length}` } : {};
  return save(dueAtMs === undefined ? next : exportNow(next, dueAtMs, afterUpdates), audit);
}

/** After our own error: the owner is informed, and the schedule continues with the next due time. */
async function giveUp(run: ExportSchedule, context: JobContext, ref: string): Promise<Result> {
  const nowMs = context.now();
  if (run.state === 'removed') return idle;
  await publish(run, `broken.${ref}`, { user: run.owner.id }, exportScheduleNotes.broken(run, ref), context);
  const latest = isExporting(run) &&
    run.latest && { ...run.latest, state: 'ended' as const, ending: 'broken' as const };
  const failed = countFailure({ ...run, takenFrom: undefined, ...(latest && { latest }) }, nowMs);
  const next = run.state === 'testing' ? end(failed, nowMs) : replan(failed, nowMs);
  return save(next, { audit: `broken: ref ${ref}` });
}
