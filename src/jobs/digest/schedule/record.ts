import { z } from 'zod';
import { doneUntil, schedule, scheduleKindOf } from '../../schedule/record.ts';
import { editionEnding } from '../edition/record.ts';
import { type Counts, SECTIONS } from '../model.ts';
import { lastCompleteWeek } from '../weeks.ts';

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

export const scheduleKind = scheduleKindOf({ what: 'digest', job: 'digest-schedule', record: scheduleRun });

const WEEK_MS = 7 * 24 * 3_600_000;

/** Returns the schedule that posts a digest. The next one on schedule is of a later week. */
export const post = (run: ScheduleRun, posting: NonNullable<ScheduleRun['posting']>, nowMs: number) =>
  doneUntil({ ...run, posting }, Date.parse(lastCompleteWeek(posting.dueAtMs).range.to) + WEEK_MS - 1, nowMs);
