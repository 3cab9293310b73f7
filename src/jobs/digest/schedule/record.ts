import { z } from 'zod';
import { idOf } from '../../../store/keys.ts';
import { type Quota, runBase } from '../../../store/runs.ts';
import { openQuestionIds } from '../../feature.ts';
import { type RunRequest, requestRunId } from '../../request.ts';
import type { VisibleKind } from '../../visibility.ts';
import { quiet } from '../alerts.ts';
import { editionEnding } from '../edition/record.ts';
import { person, platformCause, SECTIONS } from '../model.ts';
import { nextOccurrence, timetable } from '../schedule-times.ts';

/** State of the check for unusual days. Days are in UTC, `YYYY-MM-DD`. */
const alertWatch = z.object({
  /** When the next day is checked. */
  nextAtMs: z.number(),
  /** The last day that was checked, and, while its check is open, since when. */
  checked: z.string().optional(),
  sinceMs: z.number().optional(),
  quiet: quiet.optional(),
});

/** A weekly digest of a project in a channel. `job.ts` has its steps. */
export const scheduleRun = runBase.extend({
  job: z.literal('digest-schedule'),
  needs: openQuestionIds,
  project: z.string(),
  site: z.string(),
  channel: z.string(),
  /** Every full member could read the channel at setup. */
  isPublic: z.boolean(),
  owner: person,
  timetable,
  sections: z.array(z.enum(SECTIONS)),
  /** Whether unusual days are posted. */
  alerts: z.boolean(),
  /** `testing` the test post is being posted · `active` · `paused` · `removed` */
  state: z.enum(['testing', 'active', 'paused', 'removed']),
  /** A person, or itself: it failed three times, or its owner may no longer set up digests. */
  pausedBy: person.or(z.enum(['failures', 'permission'])).optional(),
  sinceMs: z.number(),
  /** Due time of the next digest. */
  nextAtMs: z.number(),
  /** The week whose figures are being collected for the next digest. */
  prepared: z.string().optional(),
  /** The week whose digest is being posted, and when it was due or sent by hand. */
  posting: z
    .object({
      week: z.string(),
      sinceMs: z.number(),
      dueAtMs: z.number(),
      /** Its run is accepted, or resumed. */
      accepted: z.boolean().optional(),
      /** Ids of the people who sent it by hand; each is informed of the result. */
      sentBy: z.array(z.string()).optional(),
    })
    .optional(),
  /** The last posted week. */
  lastWeek: z.string().optional(),
  /** Consecutive digests that could not be posted, and the last reason; `code` is Slack's, or a reference. */
  failures: z.number().int(),
  failure: z
    .object({
      why: editionEnding.shape.why.exclude(['done']),
      code: z.string().optional(),
      cause: platformCause.optional(),
      week: z.string(),
    })
    .optional(),
  /** The owner has left the workspace; the channel has a message about it. */
  ownerLeft: z.boolean().optional(),
  /** The previous owner, until the message about the takeover is published. */
  takenFrom: person.optional(),
  alert: alertWatch.optional(),
});
export type ScheduleRun = z.infer<typeof scheduleRun>;

/** Visible to people who can read its channel. */
export const scheduleKind: VisibleKind<ScheduleRun> = {
  record: scheduleRun,
  visible: ({ owner, channel, isPublic }) => ({
    requester: owner,
    asked: { channel, isPublic },
    inDirectMessage: false,
  }),
};

/** Maximum schedules per person; a channel has at most one per project. */
const MAX_OF_PERSON = 200;

/** The quota of a schedule until it is removed: its owner's. */
export const scheduleQuotas = ({ teamId, owner }: Pick<ScheduleRun, 'teamId' | 'owner'>): Quota[] => [
  { name: ['schedules', teamId, owner.id].join(':'), max: MAX_OF_PERSON, lasting: true },
];

/** Returns a schedule whose test post has not shown yet that the app may post in its channel. */
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
    // One schedule for each project in a channel.
    claim: idOf('digest-schedule', teamId, wanted.channel, wanted.project),
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

/** The key of the line about a day: the same for every schedule of this project in the channel. */
export const alertKey = ({ teamId, channel, project }: ScheduleRun, day: string) =>
  `${idOf('digest-alert', teamId, channel, project)}.alert.${day}`;

/** Keys of a schedule's messages. */
export const testKey = ({ id }: Pick<ScheduleRun, 'id'>) => `${id}.test`;
