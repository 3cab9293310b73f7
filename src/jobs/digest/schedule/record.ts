import { z } from 'zod';
import type { RunStore } from '../../../store/runs.ts';
import { activate, doneUntil, pause, schedule, visibleSchedule } from '../../schedule/record.ts';
import type { VisibleKind } from '../../visibility.ts';
import { type EditionEnding, editionEnding } from '../edition/record.ts';
import { type Counts, SECTIONS } from '../model.ts';
import { lastCompleteWeek } from '../weeks.ts';

/** Unusual views of a day; for a `lasting` fall, the average day of the last week. */
export interface Alert {
  by: keyof Counts;
  now: number;
  usual: number;
  lasting?: boolean | undefined;
}

/** Similar alerts are suppressed until that day. `move`: the size of the change; `zero`: it was a fall to no views. */
const quietSeries = z.object({ until: z.string(), move: z.number(), zero: z.boolean() }).optional();
const quiet = z.object({ human: quietSeries, ai: quietSeries });
export type Quiet = z.infer<typeof quiet>;

/** A weekly digest of a project in a channel. `job.ts` has its steps. */
export const scheduleRun = schedule.extend({
  job: z.literal('digest-schedule'),
  sections: z.array(z.enum(SECTIONS)),
  /** Whether unusual days are posted. */
  alerts: z.boolean(),
  /** When the last finished day is checked, or was begun to be checked. */
  alert: z.object({ atMs: z.number(), quiet }).optional(),
  /** The digest of the last complete week at that time is being posted: on schedule, or sent by hand. */
  posting: z
    .object({
      dueAtMs: z.number(),
      /** Its run is accepted, or resumed. */
      accepted: z.boolean().optional(),
      /** Ids of the people who sent it by hand; each is informed of the result. */
      sentBy: z.array(z.string()).optional(),
    })
    .optional(),
  /** The last posted week. */
  lastWeek: z.string().optional(),
  /** Why the last digest could not be posted; `code` is Slack's, or a reference. */
  failure: editionEnding.extend({ week: z.string() }).optional(),
});
export type ScheduleRun = z.infer<typeof scheduleRun>;

export const scheduleKind: VisibleKind<ScheduleRun> = {
  what: 'digest',
  record: scheduleRun,
  visible: visibleSchedule,
};

/** Returns the schedules of a workspace. */
export const schedulesOf = async (teamId: string, runs: Pick<RunStore, 'activeOf'>): Promise<ScheduleRun[]> =>
  (await runs.activeOf(scheduleRun, 'digest-schedule')).filter(
    (run) => run.teamId === teamId && run.state !== 'removed',
  );

/** Consecutive digests that cannot be posted before a schedule is paused. */
export const MAX_FAILURES = 3;

const WEEK_MS = 7 * 24 * 3_600_000;

/** Returns the schedule that posts a digest. The next one on schedule is of a later week. */
export const post = (
  run: ScheduleRun,
  posting: NonNullable<ScheduleRun['posting']>,
  nowMs: number,
): ScheduleRun =>
  doneUntil({ ...run, posting }, Date.parse(lastCompleteWeek(posting.dueAtMs).range.to) + WEEK_MS - 1, nowMs);

/** Returns the schedule after its digest has ended. */
export function recordOutcome(
  { posting, ...run }: ScheduleRun,
  { why, code, cause }: EditionEnding,
  nowMs: number,
): ScheduleRun {
  const week = lastCompleteWeek(posting?.dueAtMs ?? nowMs).name;
  if (why === 'done') {
    const posted = { ...run, lastWeek: week, failures: 0, failure: undefined };
    // The failure is over.
    return run.pausedBy === 'failures' ? activate(posted, nowMs) : posted;
  }
  const failure = { why, code, cause, week };
  const failed = { ...run, doneUntilMs: undefined, failures: run.failures + 1, failure };
  return failed.failures >= MAX_FAILURES && run.state === 'active'
    ? pause(failed, 'failures', nowMs)
    : failed;
}

/** Returns the schedule whose digest of the last complete week is sent by hand. Its result is reported to `by`. */
export function sendByHand(run: ScheduleRun, by: string, nowMs: number): ScheduleRun | undefined {
  if (run.state === 'removed' || run.state === 'testing') return undefined;
  const week = lastCompleteWeek(nowMs).name;
  const isKnown = run.posting !== undefined && lastCompleteWeek(run.posting.dueAtMs).name === week;
  const { dueAtMs, sentBy = [] } = (isKnown && run.posting) || { dueAtMs: nowMs };
  return post(run, { dueAtMs, sentBy: [...new Set([...sentBy, by])] }, nowMs);
}
