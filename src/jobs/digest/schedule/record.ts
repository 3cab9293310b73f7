import { z } from 'zod';
import { doneUntil, schedule, scheduleKindOf } from '../../schedule/record.ts';
import { editionEnding } from '../edition/record.ts';
import { type Counts, SECTIONS } from '../model.ts';
import { lastPeriod, type Period, rangeAfter } from '../weeks.ts';

/** Unusual views of a day; for a fall `ofWeek`, the average day of the last week. */
export interface Alert {
  by: keyof Counts;
  now: number;
  usual: number;
  ofWeek?: boolean | undefined;
}

/** Similar alerts are suppressed until that day. `move`: the size of the change; `zero`: it was a fall to no views. */
const quietSeries = z.object({ until: z.string(), move: z.number(), zero: z.boolean() }).optional();
const quiet = z.object({ human: quietSeries, ai: quietSeries });

/** A weekly or monthly digest of a project in a channel. `job.ts` has its steps. */
export const scheduleRun = schedule.extend({
  job: z.literal('digest-schedule'),
  sections: z.array(z.enum(SECTIONS)),
  /** Whether unusual days are posted. */
  alerts: z.boolean(),
  /** When the last finished day is checked, or was begun to be checked. */
  alert: z.object({ atMs: z.number(), quiet }).optional(),
  /** The digest of the last complete week or month at that time is being posted: on schedule, or sent by hand. */
  posting: z
    .object({
      dueAtMs: z.number(),
      /** Its run is accepted, or resumed. */
      accepted: z.boolean().optional(),
      /** Ids of the people who sent it by hand; each is informed of the result. */
      sentBy: z.array(z.string()).optional(),
    })
    .optional(),
  /** The last posted week or month. */
  lastWeek: z.string().optional(),
  /** Why the last digest could not be posted; `code` is Slack's, or a reference. */
  failure: editionEnding.extend({ week: z.string() }).optional(),
});
export type ScheduleRun = z.infer<typeof scheduleRun>;

export const scheduleKind = scheduleKindOf({ what: 'digest', job: 'digest-schedule', record: scheduleRun });

/** Returns the week or month whose digest a schedule posts at a moment. */
export const periodAt = ({ timetable }: Pick<ScheduleRun, 'timetable'>, atMs: number): Period =>
  lastPeriod(timetable, atMs);

export const editionKindOf = ({ timetable }: Pick<ScheduleRun, 'timetable'>): 'monthly' | 'weekly' =>
  timetable.monthly ? 'monthly' : 'weekly';

/** Returns the schedule that posts a digest. The next one on schedule is of a later week or month. */
export function post(run: ScheduleRun, posting: NonNullable<ScheduleRun['posting']>, nowMs: number) {
  const nextMs = Date.parse(rangeAfter(periodAt(run, posting.dueAtMs).range).to);
  return doneUntil({ ...run, posting }, nextMs - 1, nowMs);
}
