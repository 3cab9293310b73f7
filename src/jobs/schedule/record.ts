import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';
import { type Person, person, type RunRequest, requestRunId, type VisibleKind } from '../shared/origin.ts';
import { nextOccurrence, type Timetable, timetable } from './timetable.ts';

/** A run with work at the times of a timetable, until a person removes it. A feature adds its own fields. */
export const schedule = runBase.extend({
  project: z.string(),
  site: z.string(),
  channel: z.string(),
  /** Every full member could read the channel at setup. */
  isPublic: z.boolean(),
  owner: person,
  timetable,
  /** `testing` the test post is being posted · `active` · `paused` · `removed` */
  state: z.enum(['testing', 'active', 'paused', 'removed']),
  /** A person, or itself: its work failed three times, or its owner lost the permission. */
  pausedBy: person.or(z.enum(['failures', 'permission'])).optional(),
  /** Slack's error code, if the channel took no message when it was set up. */
  refusal: z.string().optional(),
  sinceMs: z.number(),
  /** The next due time. */
  nextAtMs: z.number(),
  /** Until then all work is done or begun, perhaps by hand and early. */
  doneUntilMs: z.number().optional(),
  /** Consecutive failures. */
  failures: z.number().int(),
  /** The owner has left the workspace; the channel has a message about it. */
  ownerLeft: z.boolean().optional(),
  /** The previous owner, until the message about the takeover is published. */
  takenFrom: person.optional(),
});
export type Schedule = z.infer<typeof schedule>;

/** The schedules of one feature; each is visible to people who can read its channel. */
export type ScheduleKind<Run extends Schedule> = VisibleKind<Run> & { job: Run['job'] };

export const scheduleKindOf = <Run extends Schedule>(
  kind: Pick<ScheduleKind<Run>, 'what' | 'job' | 'record'>,
): ScheduleKind<Run> => ({
  ...kind,
  visible: ({ owner, channel, isPublic }) => ({
    by: owner,
    asked: { channel, isPublic },
    inDirectMessage: false,
  }),
});

/** Returns a schedule in state `testing`: its test post has to show that the app may post in the channel. */
export const newSchedule = <
  Wanted extends Pick<Schedule, 'job' | 'project' | 'site' | 'channel' | 'isPublic' | 'timetable'>,
>(
  wanted: Wanted,
  request: Pick<RunRequest, 'teamId' | 'requestId' | 'user'>,
  nowMs: number,
) => ({
  id: requestRunId(request),
  teamId: request.teamId,
  rev: 1,
  // One schedule of each kind for each project in a channel, and a monthly one.
  claim: idOf(
    ...[wanted.job, request.teamId, wanted.channel, wanted.project],
    ...(wanted.timetable.monthly ? ['monthly'] : []),
  ),
  people: [request.user.id],
  permanent: true,
  ...wanted,
  owner: { id: request.user.id, name: request.user.name },
  state: 'testing' as const,
  sinceMs: nowMs,
  nextAtMs: nextOccurrence(wanted.timetable, nowMs),
  failures: 0,
});

/** Returns the schedule with its next due time after `nowMs`. */
export const replan = <S extends Schedule>(run: S, nowMs: number): S => ({
  ...run,
  nextAtMs: nextOccurrence(run.timetable, Math.max(nowMs, run.doneUntilMs ?? 0)),
});

/**
 * Returns the due time to work for, those that were missed, and the next one. Each follows from the one before and not from
 * now, so clock changes neither skip nor repeat one.
 */
export function dueTimes(
  { timetable, nextAtMs: firstMs, doneUntilMs = 0 }: Schedule,
  nowMs: number,
  catchUpMs: number,
): { dueAtMs: number | undefined; missed: number[]; nextAtMs: number } {
  const missed: number[] = [];
  let nextAtMs = firstMs;
  for (; nextAtMs <= nowMs; nextAtMs = nextOccurrence(timetable, nextAtMs))
    if (nextAtMs > doneUntilMs) missed.push(nextAtMs);
  const isInTime = nowMs - (missed.at(-1) ?? 0) <= catchUpMs;
  return { dueAtMs: isInTime ? missed.pop() : undefined, missed, nextAtMs };
}

/** Returns the schedule whose work is done until then, so earlier due times have none. */
export const doneUntil = <S extends Schedule>(run: S, doneUntilMs: number, nowMs: number): S =>
  // A time that is due already stays: its step finds that it has no work.
  run.nextAtMs > nowMs ? replan({ ...run, doneUntilMs }, nowMs) : { ...run, doneUntilMs };

/** Returns the schedule active from now on: earlier due times are not caught up. */
export const activate = <S extends Schedule>(run: S, nowMs: number): S =>
  replan({ ...run, state: 'active', sinceMs: nowMs, pausedBy: undefined, failures: 0 }, nowMs);

/** Consecutive failures before a schedule is paused. */
const MAX_FAILURES = 3;

/** Returns the schedule after one more failure, paused after three in a row. */
export function countFailure<S extends Schedule>(run: S, nowMs: number): S {
  const failed = { ...run, failures: run.failures + 1 };
  return failed.failures >= MAX_FAILURES && run.state === 'active'
    ? pause(failed, 'failures', nowMs)
    : failed;
}

/** Returns the schedule after a success, which resumes it if failures had paused it. */
export const countSuccess = <S extends Schedule>(run: S, nowMs: number): S =>
  run.pausedBy === 'failures' ? activate(run, nowMs) : { ...run, failures: 0 };

/** Returns the schedule paused by a person, or by itself. */
export const pause = <S extends Schedule>(run: S, pausedBy: S['pausedBy'], nowMs: number): S => ({
  ...run,
  state: 'paused',
  sinceMs: nowMs,
  pausedBy,
});

/** Returns the ended schedule: its record now expires, and its step releases the claim. */
export const end = <S extends Schedule>(run: S, nowMs: number): S => ({
  ...run,
  state: 'removed',
  permanent: false,
  sinceMs: nowMs,
});

/** Returns the schedule with another timetable. An update that has made it due still does. */
export const changeTimetable = <S extends Schedule>(run: S, timetable: Timetable, nowMs: number): S =>
  isDeepStrictEqual(run.timetable, timetable) || (run.timetable.afterUpdates && timetable.afterUpdates)
    ? { ...run, timetable }
    : replan({ ...run, timetable }, nowMs);

/** Returns the schedule after a person's change; undefined if it has moved on since the button was shown. */
export function changeSchedule<S extends Schedule>(
  run: S,
  change: 'pause' | 'resume' | 'remove' | 'takeOver',
  { id, name }: Person,
  nowMs: number,
): S | undefined {
  const { state, ownerLeft, owner: takenFrom } = run;
  if (change === 'pause') return state === 'active' ? pause(run, { id, name }, nowMs) : undefined;
  if (change === 'resume') return state === 'paused' ? activate(run, nowMs) : undefined;
  if (state === 'removed') return undefined;
  if (change === 'remove') return end(run, nowMs);
  // The owner has left, and this person becomes the owner.
  if (!ownerLeft || takenFrom.id === id) return undefined;
  const taken = { ...run, owner: { id, name }, people: [id], ownerLeft: undefined, takenFrom };
  return taken.pausedBy === 'permission' ? activate(taken, nowMs) : taken;
}
