import { wait } from '../../../runtime/later.ts';
import type { JobContext } from '../../engine/context.ts';
import { defineRunJob, idle, type StepResult, save } from '../../engine/job.ts';
import { permitted } from '../../engine/waits.ts';
import { countFailure, countSuccess, dueTimes, end, pause, replan } from '../../schedule/record.ts';
import { announceTakeover, awaitTest, publish, publishRefusal, workCheckMs } from '../../schedule/steps.ts';
import {
  type EditionEnding,
  type EditionRun,
  editionRun,
  figuresOf,
  newEdition,
  permalinkOf,
  restart,
  scheduledId,
} from '../edition/record.ts';
import { answerMessage } from '../edition/reply-view.ts';
import { collectFigures } from '../figures/record.ts';
import { finalAtMs } from '../weeks.ts';
import { stepAlert } from './alerts.ts';
import { editionKindOf, periodAt, post, type ScheduleRun, scheduleRun } from './record.ts';
import { scheduleNeeds, scheduleNotes } from './view.ts';

/**
 * Collecting begins this long before a digest is due: late, so that digests that are due before come first, and early
 * enough for the pages of a large site.
 */
const AHEAD_MS = 6 * 3_600_000;

const CATCH_UP_MS = 48 * 3_600_000;

/**
 * Posts a digest every week or month: starts collecting in time, accepts the digest when it is due, and records its result. A
 * message posted once has its own key, and is published before the save that follows it.
 */
export const scheduleJob = defineRunJob({
  name: 'digest-schedule',
  queue: 'docs-analytics',
  concurrency: 20,
  schema: scheduleRun,
  needs: scheduleNeeds.of,
  releasesClaim: ({ state }) => state === 'removed',
  auditLine: ({ owner, channel, site }) => ({ user: owner, channel, what: 'digest schedule', subject: site }),
  step,
  giveUp,
});

async function step(run: ScheduleRun, context: JobContext): Promise<StepResult<ScheduleRun>> {
  switch (run.state) {
    case 'testing':
      await publish(run, 'test', { channel: run.channel }, scheduleNotes.test(run), context);
      return awaitTest(run, `${run.id}.test`, scheduleNotes, context);
    case 'active':
      return (await finishPosting(run, context)) ?? (await postDue(run, context)) ?? stepActive(run, context);
    case 'paused':
      return (await finishPosting(run, context)) ?? wait(workCheckMs(run.posting?.dueAtMs, context));
    case 'removed':
      return idle;
  }
}

/** The place for a note to the owner: the channel, if the owner has left. */
const placeOfOwner = ({ owner, ownerLeft, channel }: ScheduleRun) =>
  ownerLeft ? { channel } : { user: owner.id };

/** Finishes earlier clicks and digests. Returns undefined if nothing is to be done. */
async function finishPosting(run: ScheduleRun, context: JobContext) {
  const { posting } = run;
  if (run.takenFrom !== undefined) return announceTakeover(run, scheduleNotes, context);
  if (posting === undefined) return undefined;
  const { dueAtMs, accepted, sentBy = [] } = posting;
  if (!accepted) return acceptDigest(run, posting, context);
  const week = periodAt(run, dueAtMs).name;
  const edition = await loadEdition(scheduledId(run, week), context);
  // A digest that is missing or damaged is skipped.
  if (edition === undefined) return save({ ...run, posting: undefined, lastWeek: week });
  if (edition.ended === undefined) {
    if (edition.stuck !== undefined && edition.totals === undefined && !run.ownerLeft) {
      const late = scheduleNotes.late(run, edition.stuck);
      await publish(run, `late.${week}`, { user: run.owner.id }, late, context);
    }
    return undefined;
  }
  const next = recordOutcome(run, edition.ended, context.now());
  const { failure } = next;
  const name = `${failure ? 'failed' : 'posted'}.${week}.${dueAtMs}`;
  const permalink = await permalinkOf(edition, context.outbox, context.slack.workspaceUrl());
  const message = failure ? scheduleNotes.failed(next) : answerMessage('posted', edition, permalink);
  if (failure) await publish(run, name, placeOfOwner(run), message, context);
  for (const user of sentBy)
    if (!failure || user !== run.owner.id) await publish(run, `${name}.${user}`, { user }, message, context);
  const isPaused = next.state === 'paused' && run.state === 'active';
  return save(next, isPaused ? { audit: `paused: failed ${next.failures} times` } : {});
}

function recordOutcome({ posting, ...run }: ScheduleRun, { why, code, cause }: EditionEnding, nowMs: number) {
  const week = periodAt(run, posting?.dueAtMs ?? nowMs).name;
  if (why === 'done') return countSuccess({ ...run, lastWeek: week, failure: undefined }, nowMs);
  const failure = { why, code, cause, week };
  return countFailure({ ...run, doneUntilMs: undefined, failure }, nowMs);
}

/**
 * Accepts the digest of a week or month; its id follows from that. One that has failed, or waits for numbers, resumes; if it
 * changed concurrently, the next step tries again.
 */
async function acceptDigest(
  run: ScheduleRun,
  posting: NonNullable<ScheduleRun['posting']>,
  context: JobContext,
): Promise<StepResult<ScheduleRun>> {
  const { wake, now } = context;
  const { dueAtMs, sentBy: senders } = posting;
  const { teamId, channel, project, site, owner, sections, lastWeek } = run;
  const { name, range } = periodAt(run, dueAtMs);
  const id = scheduledId(run, name);
  const sentBy = senders && run.id;
  const wanted = { id, teamId, channel, project, site, owner, sections, range, dueAtMs, lastWeek };
  const digest = newEdition({ ...wanted, kind: editionKindOf(run), sentBy }, now());
  const isNew = (await context.store.runs.accept(digest)).kind === 'accepted';
  const known = isNew ? undefined : await loadEdition(id, context);
  const again = isNew ? digest : known && restart(known, { sections, sentBy }, now());
  if (again && !isNew && (await context.store.runs.resume(again)).kind === 'stale') return 'next';
  if (again) await wake(again);
  return save({ ...run, posting: { ...posting, accepted: true } });
}

async function loadEdition(id: string, { store: { runs } }: JobContext): Promise<EditionRun | undefined> {
  const [edition] = await runs.loadAll([id], editionRun);
  return edition;
}

/** Begins the digest that is due. Returns undefined if none is. */
async function postDue(run: ScheduleRun, context: JobContext): Promise<StepResult<ScheduleRun> | undefined> {
  const nowMs = context.now();
  if (nowMs < run.nextAtMs) return undefined;
  const { dueAtMs, missed, nextAtMs } = dueTimes(run, nowMs, CATCH_UP_MS);
  const owner = dueAtMs === undefined ? undefined : await permitted(run.owner.id, 'digest', context);
  // After an owner has left, digests continue until a person takes them over.
  const isRefused = owner?.kind === 'refused';
  const hasLeft = isRefused && !owner.person.active;
  const next: ScheduleRun = { ...run, nextAtMs, ...(owner && { ownerLeft: hasLeft || undefined }) };
  const lastMissedMs = missed.at(-1);
  const skipped = lastMissedMs === undefined ? undefined : periodAt(run, lastMissedMs).name;
  if (skipped !== undefined)
    await publish(
      run,
      `skipped.${skipped}`,
      placeOfOwner(next),
      scheduleNotes.skipped(run, missed, nowMs),
      context,
    );
  if (dueAtMs === undefined) return save(next, skipped ? { audit: `skipped: ${skipped}` } : {});
  if (isRefused && !(hasLeft && run.ownerLeft)) await publishRefusal(run, hasLeft, scheduleNotes, context);
  if (isRefused && !hasLeft)
    return save(pause(next, 'permission', nowMs), { audit: 'paused: not permitted' });
  return save(post(next, { dueAtMs }, nowMs));
}

/** If nothing is due: collects figures in time, checks for unusual days, and waits. */
async function stepActive(run: ScheduleRun, context: JobContext): Promise<StepResult<ScheduleRun>> {
  const nowMs = context.now();
  const { range } = periodAt(run, run.nextAtMs);
  const collectAtMs = Math.max(finalAtMs(range), run.nextAtMs - AHEAD_MS);
  const isCollecting = nowMs >= collectAtMs;
  if (isCollecting)
    for (const wanted of figuresOf({ ...run, kind: editionKindOf(run), range }, collectAtMs))
      await collectFigures(wanted, context);
  const alert = await stepAlert(run, context);
  if ('id' in alert) return save(alert);
  const dueMs = (isCollecting ? run.nextAtMs : collectAtMs) - nowMs;
  return wait(Math.min(dueMs, alert.inMs, workCheckMs(run.posting?.dueAtMs, context)));
}

/** After our own error: the owner is informed, and the schedule continues with the next digest. */
async function giveUp(run: ScheduleRun, context: JobContext, ref: string): Promise<StepResult<ScheduleRun>> {
  const nowMs = context.now();
  if (run.state === 'removed') return idle;
  const failed = recordOutcome(run, { why: 'broken', code: ref }, nowMs);
  const next = run.state === 'testing' ? end(failed, nowMs) : failed;
  await publish(run, `broken.${ref}`, placeOfOwner(run), scheduleNotes.failed(next), context);
  return save(replan({ ...next, takenFrom: undefined, alert: undefined }, nowMs), {
    audit: `broken: ref ${ref}`,
  });
}
