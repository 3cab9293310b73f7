import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { idOf } from '../../../store/keys.ts';
import { type Quota, runBase } from '../../../store/runs.ts';
import { openQuestionIds } from '../../feature.ts';
import { type RunRequest, requestRunId } from '../../request.ts';
import type { VisibleKind } from '../../visibility.ts';
import { type EditionEnding, editionEnding } from '../edition/record.ts';
import { type Counts, person, SECTIONS } from '../model.ts';
import { nextOccurrence, type Timetable, timetable } from '../schedule-times.ts';
import { lastCompleteWeek, type Week } from '../weeks.ts';

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
  failure: editionEnding.extend({ week: z.string() }).optional(),
  /** The owner has left the workspace; the channel has a message about it. */
  ownerLeft: z.boolean().optional(),
  /** The previous owner, until the message about the takeover is published. */
  takenFrom: person.optional(),
  alert: alertWatch.optional(),
});
export type ScheduleRun = z.infer<typeof scheduleRun>;

/** Visible to people who can read its channel. */
export const scheduleKind: VisibleKind<ScheduleRun> = {
  what: 'digest',
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
  { name: ['schedules', teamId, owner.id].join(':'), max: MAX_OF_PERSON },
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

const HOUR_MS = 3_600_000;

/** A missed digest is posted late for up to this long. */
const CATCH_UP_MS = 48 * HOUR_MS;

/** Consecutive digests that cannot be posted before a schedule is paused. */
export const MAX_FAILURES = 3;

/** Returns the next occurrence of a timetable's hour, on any day of the week. */
export const nextDaily = (timetable: Timetable, afterMs: number): number =>
  Math.min(...[1, 2, 3, 4, 5, 6, 7].map((weekday) => nextOccurrence({ ...timetable, weekday }, afterMs)));

/** Returns whether a week is later than those posted or being posted. Week names sort by time. */
const isNewWeek = ({ lastWeek = '', posting }: ScheduleRun, { name }: Week): boolean =>
  name > lastWeek && name > (posting?.week ?? '');

/** Returns when the next digest of an unposted week is due. */
export function nextDue(run: ScheduleRun, nowMs: number): number {
  let dueAtMs = nextOccurrence(run.timetable, nowMs);
  while (!isNewWeek(run, lastCompleteWeek(dueAtMs))) dueAtMs = nextOccurrence(run.timetable, dueAtMs);
  return dueAtMs;
}

/** A digest that is due. */
export interface DueDigest {
  week: Week;
  dueAtMs: number;
}

/**
 * Returns the digest to post, those skipped as too late, and the next due time. Each time follows from the previous one
 * and not from now, so clock changes neither skip nor repeat one.
 */
export function dueDigests(
  run: ScheduleRun,
  nowMs: number,
): { due: DueDigest | undefined; skipped: DueDigest[]; nextAtMs: number } {
  const missed: DueDigest[] = [];
  let nextAtMs = run.nextAtMs;
  for (; nextAtMs <= nowMs; nextAtMs = nextOccurrence(run.timetable, nextAtMs)) {
    const week = lastCompleteWeek(nextAtMs);
    if (isNewWeek(run, week)) missed.push({ week, dueAtMs: nextAtMs });
  }
  const latest = missed.at(-1);
  const isInTime = latest !== undefined && nowMs - latest.dueAtMs <= CATCH_UP_MS;
  return isInTime
    ? { due: latest, skipped: missed.slice(0, -1), nextAtMs }
    : { due: undefined, skipped: missed, nextAtMs };
}

/** Returns the check for unusual days without an open one: only days that settle from now on are checked. */
export const restartAlert = ({ timetable, alert }: ScheduleRun, nowMs: number): ScheduleRun['alert'] =>
  alert && { nextAtMs: nextDaily(timetable, nowMs), quiet: alert.quiet };

/** Returns the schedule active from now on: earlier due times are not caught up. */
export function activate(run: ScheduleRun, nowMs: number): ScheduleRun {
  return {
    ...run,
    state: 'active',
    sinceMs: nowMs,
    nextAtMs: nextDue(run, nowMs),
    prepared: undefined,
    pausedBy: undefined,
    failures: 0,
    alert: restartAlert(run, nowMs),
  };
}

/** Returns the schedule paused by a person, or by itself. */
export const pause = (
  run: ScheduleRun,
  pausedBy: NonNullable<ScheduleRun['pausedBy']>,
  nowMs: number,
): ScheduleRun => ({ ...run, state: 'paused', sinceMs: nowMs, pausedBy });

/** Returns the ended schedule: its record now expires, and its step releases the claim. */
export const end = (run: ScheduleRun, nowMs: number): ScheduleRun => ({
  ...run,
  state: 'removed',
  lasting: false,
  sinceMs: nowMs,
  alert: undefined,
});

/** Returns the schedule after its digest has ended. */
export function recordOutcome(
  run: ScheduleRun,
  { why, code, cause }: EditionEnding,
  nowMs: number,
): ScheduleRun {
  const { posting, ...rest } = run;
  if (posting === undefined) return run;
  const { week } = posting;
  if (why === 'done') {
    const lastWeek = (run.lastWeek ?? '') > week ? run.lastWeek : week;
    const posted: ScheduleRun = { ...rest, lastWeek, failures: 0, failure: undefined };
    // The failure is over.
    if (run.pausedBy === 'failures') return activate(posted, nowMs);
    return run.nextAtMs > nowMs ? { ...posted, nextAtMs: nextDue(posted, nowMs) } : posted;
  }
  const failed = { ...rest, failures: run.failures + 1, failure: { why, code, cause, week } };
  return failed.failures >= MAX_FAILURES && run.state === 'active'
    ? pause(failed, 'failures', nowMs)
    : failed;
}

/**
 * Returns the schedule whose digest of the last complete week is sent by hand: the next step accepts it, or has it
 * resumed. Its result is reported to `by`.
 */
export function sendByHand(run: ScheduleRun, by: string, nowMs: number): ScheduleRun | undefined {
  if (run.state === 'removed' || run.state === 'testing') return undefined;
  const week = lastCompleteWeek(nowMs).name;
  const known = run.posting?.week === week ? run.posting : { week, sinceMs: nowMs, dueAtMs: nowMs };
  const sentBy = [...new Set([...(known.sentBy ?? []), by])];
  const next = { ...run, posting: { ...known, accepted: false, sentBy } };
  return run.nextAtMs > nowMs ? { ...next, nextAtMs: nextDue(next, nowMs) } : next;
}

/** Returns the schedule with a person's changes; undefined if it is removed. */
export function changeSchedule(
  run: ScheduleRun,
  changes: Pick<ScheduleRun, 'timetable' | 'sections' | 'alerts'>,
  nowMs: number,
): ScheduleRun | undefined {
  if (run.state === 'removed') return undefined;
  const alert = changes.alerts ? run.alert : undefined;
  const changed = { ...run, ...changes, prepared: undefined, alert };
  return isDeepStrictEqual(run.timetable, changes.timetable)
    ? changed
    : { ...changed, nextAtMs: nextDue(changed, nowMs), alert: restartAlert(changed, nowMs) };
}

/** Returns the week that a change skips: its digest was next, and now a later week's is. */
export function leftOutWeek(before: ScheduleRun, after: ScheduleRun): Week | undefined {
  if (after.state !== 'active') return undefined;
  const week = lastCompleteWeek(before.nextAtMs);
  return lastCompleteWeek(after.nextAtMs).name > week.name ? week : undefined;
}

type Person = ScheduleRun['owner'];

/** What the buttons and subcommands do. Each returns undefined if the schedule has moved on since the button was shown. */
export const scheduleTransitions = {
  pause: (run, by, nowMs) =>
    run.state === 'active' ? pause(run, { id: by.id, name: by.name }, nowMs) : undefined,
  resume: (run, _by, nowMs) => (run.state === 'paused' ? activate(run, nowMs) : undefined),
  remove: (run, _by, nowMs) => (run.state === 'removed' ? undefined : end(run, nowMs)),
  /** The owner has left, and this person becomes the owner. */
  takeOver: (run, by, nowMs) => {
    if (run.state === 'removed' || !run.ownerLeft || run.owner.id === by.id) return undefined;
    const owner = { id: by.id, name: by.name };
    const taken = { ...run, owner, people: [by.id], ownerLeft: undefined, takenFrom: run.owner };
    return taken.pausedBy === 'permission' ? activate(taken, nowMs) : taken;
  },
} satisfies Record<string, (run: ScheduleRun, by: Person, nowMs: number) => ScheduleRun | undefined>;
export type ScheduleTransition = keyof typeof scheduleTransitions;
