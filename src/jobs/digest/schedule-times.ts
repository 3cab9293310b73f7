import { z } from 'zod';
import { SETTLING_MS } from './weeks.ts';

/** The weekly time of a digest, in the local time of a zone. */
export const timetable = z.object({
  /** 1 is Monday, 7 is Sunday. */
  weekday: z.number().int().min(1).max(7),
  /** 24-hour `HH:MM`. */
  time: z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/),
  zone: z.string(),
});
export type Timetable = z.infer<typeof timetable>;

export const WEEKDAYS = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
] as const;

/** A weekly digest that is later than this says so. */
export const LATE_MS = 3_600_000;
const WEEK_MS = 7 * 24 * 3_600_000;
/** A Monday at 00:00 UTC. */
const A_WEEK_END_MS = Date.UTC(1970, 0, 5);
const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;

/**
 * Returns the first moment after `afterMs` at which the timetable is due. Clock changes keep the local hour. A skipped
 * time is due later by the length of the skip; a repeated time is due at its first occurrence.
 */
export function nextOccurrence({ weekday, time, zone }: Timetable, afterMs: number): number {
  const after = Temporal.Instant.fromEpochMilliseconds(Math.floor(afterMs)).toZonedDateTimeISO(zone);
  // Starts a day earlier, since a zone that skips a whole day moves its times to the next.
  const start = after.toPlainDate().subtract({ days: 1 });
  const first = start.add({ days: (weekday - start.dayOfWeek + 7) % 7 });
  for (let weeks = 0; ; weeks++) {
    const due = first.add({ weeks }).toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds;
    if (due > afterMs) return due;
  }
}

/**
 * Returns the earliest safe timetable instead of one that is due too close to the end of a UTC week: between the zone's
 * Monday, or the end if that comes first, and an hour after the end, on the clocks of any season. Returns undefined for
 * a safe one.
 */
export function earliestSafe({ weekday, time, zone }: Timetable, nowMs: number): Timetable | undefined {
  const firstEndMs = nowMs - ((nowMs - A_WEEK_END_MS) % WEEK_MS);
  // The end of a UTC week in each week of a year, in minutes since the zone's Monday.
  const ends = Array.from({ length: 53 }, (_, week) => {
    const end = Temporal.Instant.fromEpochMilliseconds(Math.floor(firstEndMs + week * WEEK_MS));
    return end.toZonedDateTimeISO(zone).offsetNanoseconds / 60e9;
  });
  const minute = (weekday - 1) * DAY_MINUTES + 60 * Number(time.slice(0, 2)) + Number(time.slice(3));
  const sinceMonday = minute > WEEK_MINUTES / 2 ? minute - WEEK_MINUTES : minute;
  const safe = Math.ceil(Math.max(...ends) + SETTLING_MS / 60_000);
  if (sinceMonday < Math.min(0, ...ends) || sinceMonday >= safe) return undefined;
  const day = Math.floor(safe / DAY_MINUTES);
  return {
    weekday: ((day + 7) % 7) + 1,
    time: Temporal.PlainTime.from('00:00').add({ minutes: safe }).toString({ smallestUnit: 'minute' }),
    zone,
  };
}

/** A group of time zones in a select. */
interface ZoneGroup {
  label: string;
  zones: string[];
}

/** Slack's maximum for a group of a select. */
const MAX_GROUP = 100;

/**
 * Returns all time zones by continent, at most 100 per group, UTC first. `own` is the person's zone from Slack; it gets
 * its own group if the list has it only by another name, such as Asia/Calcutta for Asia/Kolkata.
 */
export function zoneGroups(own?: string): ZoneGroup[] {
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/'));
  const continents = Map.groupBy(zones, (zone) => zone.slice(0, zone.indexOf('/')));
  const groups = [
    { label: 'UTC', zones: ['UTC'] },
    ...[...continents].flatMap(([continent, all]) => split(continent, all)),
  ];
  const isMissing = own !== undefined && isZone(own) && !groups.some((group) => group.zones.includes(own));
  return isMissing ? [{ label: 'Yours', zones: [own] }, ...groups] : groups;
}

/** Splits the zones of a continent into as few groups as possible, of similar size: "America (Adak – Juneau)". */
function split(continent: string, zones: string[]): ZoneGroup[] {
  const groups = Math.ceil(zones.length / MAX_GROUP);
  const size = Math.ceil(zones.length / groups);
  return Array.from({ length: groups }, (_, index) => {
    const some = zones.slice(index * size, (index + 1) * size);
    const [first = '', last = ''] = [some[0], some.at(-1)].map((zone = '') => cityOf(zone));
    return { label: groups === 1 ? continent : `${continent} (${first} – ${last})`, zones: some };
  });
}

const cityOf = (zone: string) => zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');

/** Returns whether this is the name of a time zone; a UTC offset such as `+02:00` is not. */
export function isZone(text: string): boolean {
  if (!/^[a-z][\w/+-]{1,63}$/i.test(text)) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** Returns a timetable as people say it: "Mondays 09:00 Europe/Berlin". */
export function timetableText({ weekday, time, zone }: Timetable): string {
  return `${WEEKDAYS[weekday - 1]}s ${time} ${zone}`;
}
