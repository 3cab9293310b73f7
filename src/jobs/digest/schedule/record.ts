import { z } from 'zod';
import { idOf } from '../../../store/ids.ts';
import { type Quota, runBase } from '../../../store/runs.ts';
import { openQuestionIds } from '../../needs.ts';
import { type RunRequest, requestRunId } from '../../request.ts';
import type { Visible, VisibleKind } from '../../visibility.ts';
import { quiet } from '../alerts.ts';
import { editionEnding, person } from '../edition/record.ts';
import { platformCause, SECTIONS } from '../model.ts';
import { nextOccurrence, timetable } from '../schedule-times.ts';

/** What is known of unusual days. Days are in UTC, `YYYY-MM-DD`. */
const alertWatch = z.object({
  /** When the next day is looked at. */
  nextAtMs: z.number(),
  /** The last day that was, or is to be, looked at, and those that are still to be. */
  checked: z.string().optional(),
  days: z.array(z.string()).optional(),
  quiet: quiet.optional(),
  /** The day that is looked at, and the run that collects it. `sinceMs` is when that began. */
  check: z
    .object({
      day: z.string(),
      sinceMs: z.number(),
      figures: z.string(),
      /** What is unusual; from then on the lists of pages are awaited: `pages` are the runs that collect them. */
      found: z
        .object({
          sinceMs: z.number(),
          alerts: z.array(
            z.object({
              by: z.enum(['human', 'ai']),
              now: z.number(),
              usual: z.number(),
              lasting: z.boolean().optional(),
            }),
          ),
          pages: z.array(z.string()),
        })
        .optional(),
    })
    .optional(),
});
export type AlertWatch = z.infer<typeof alertWatch>;

/** A weekly digest of a project in a channel. It steps itself: what it does is in `job.ts`. */
export const scheduleRun = runBase.extend({
  job: z.literal('digest-schedule'),
  needs: openQuestionIds,
  project: z.string(),
  site: z.string(),
  channel: z.string(),
  /** Every full member could read the channel when it was set up. */
  isPublic: z.boolean(),
  owner: person,
  timetable,
  sections: z.array(z.enum(SECTIONS)),
  /** Whether unusual days are posted. */
  alerts: z.boolean(),
  /** `testing` the test post is on its way · `active` · `paused` · `removed` */
  state: z.enum(['testing', 'active', 'paused', 'removed']),
  pausedBy: person.optional(),
  /** Paused by itself: it failed three times, or its owner may no longer set up digests. */
  pausedByFailures: z.boolean().optional(),
  pausedByPermission: z.boolean().optional(),
  sinceMs: z.number(),
  /** When the next digest is due. */
  nextAtMs: z.number(),
  /** The week whose figures are being collected for the next digest. */
  prepared: z.string().optional(),
  /** The digest that is being posted: its run and week. */
  posting: z
    .object({
      run: z.string(),
      week: z.string(),
      sinceMs: z.number(),
      /** Ids of the people who had it sent by hand: each hears how it ended. */
      sentBy: z.array(z.string()).optional(),
    })
    .optional(),
  /** The week that was posted last, and how many pages it had, so that large sites are collected in time. */
  lastWeek: z.string().optional(),
  lastPages: z.number().int().optional(),
  /** Digests in a row that could not be posted, and why the last of them could not; `code` is Slack's, or a reference. */
  failures: z.number().int(),
  failure: z
    .object({
      why: editionEnding.shape.why.exclude(['done']),
      code: z.string().optional(),
      cause: platformCause.optional(),
      week: z.string(),
    })
    .optional(),
  /** The last week that was missed for too long; the owner has a note of it. */
  skipped: z.object({ week: z.string(), dueAtMs: z.number() }).optional(),
  /** The owner has left the workspace; the channel has a message about it. */
  ownerLeft: z.boolean().optional(),
  /** Since when Slack does not say whether the owner may have digests; asked again until it does. */
  unknownSinceMs: z.number().optional(),
  /** Whose digest it was before somebody took it over, until the message about that says so. */
  takenFrom: person.optional(),
  alert: alertWatch.optional(),
});
export type ScheduleRun = z.infer<typeof scheduleRun>;

/** Who may see a schedule: whoever can read its channel. */
export const visibleSchedule = ({ owner, channel, isPublic }: ScheduleRun): Visible => ({
  requester: owner,
  asked: { channel, isPublic },
  inDirectMessage: false,
});

export const scheduleKind: VisibleKind<ScheduleRun> = { record: scheduleRun, visible: visibleSchedule };

/** One schedule for each project in a channel. */
const scheduleClaim = (teamId: string, channel: string, project: string) =>
  idOf('digest-schedule', teamId, channel, project);

/** A channel has one schedule for each project at most; how many one person may have set up. */
const MAX_OF_PERSON = 200;

/** What a schedule counts toward until it is removed: whoever set it up. */
export const scheduleQuotas = ({ teamId, owner }: Pick<ScheduleRun, 'teamId' | 'owner'>): Quota[] => [
  { name: ['schedules', teamId, owner.id].join(':'), max: MAX_OF_PERSON, lasting: true },
];

/** Returns a schedule that has still to show that the app may post in its channel. */
export function newSchedule(
  wanted: Pick<
    ScheduleRun,
    'project' | 'site' | 'channel' | 'isPublic' | 'timetable' | 'sections' | 'alerts'
  >,
  request: Pick<RunRequest, 'teamId' | 'requestId' | 'user'>,
  nowMs: number,
): ScheduleRun {
  const { teamId, user } = request;
  return {
    id: requestRunId(request),
    teamId,
    job: 'digest-schedule',
    rev: 1,
    claim: scheduleClaim(teamId, wanted.channel, wanted.project),
    people: [user.id],
    lasting: true,
    ...wanted,
    owner: { id: user.id, name: user.name },
    state: 'testing',
    sinceMs: nowMs,
    nextAtMs: nextOccurrence(wanted.timetable, nowMs),
    failures: 0,
  };
}

/** The line about a day: the same whoever posts it, however often the schedule is set up again. */
export const alertKey = ({ teamId, channel, project }: ScheduleRun, day: string) =>
  `${idOf('digest-alert', teamId, channel, project)}.alert.${day}`;

/** Messages of a schedule, each by a key of its own. */
export const testKey = ({ id }: Pick<ScheduleRun, 'id'>) => `${id}.test`;
