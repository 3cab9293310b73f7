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

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const YEAR_MS = 366 * DAY_MS;
/** A weekly digest that is later than this says so. */
export const LATE_MS = HOUR_MS;
/** A Monday at 00:00 UTC. */
const A_WEEK_END_MS = Date.UTC(1970, 0, 5);
const MINUTES_A_DAY = 24 * 60;

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
 * Returns a replacement for a timetable that is due too close to the end of a UTC week within the next 12 months: the
 * earliest safe one, on the same weekday if possible. Returns undefined for a safe one.
 *
 * Too close means: less than an hour after the end; before the end but on the zone's Monday, since people's last week
 * would not be over; or before it in one half of the year and after it in the other, since the clock change would leave
 * out a week, or report one twice.
 */
export function earliestSafe(timetable: Timetable, nowMs: number): Timetable | undefined {
  let safe = timetable;
  for (let late = minutesTooEarly(safe, nowMs); late > 0; late = minutesTooEarly(safe, nowMs)) {
    const minute = minuteOf(safe.time) + late;
    safe =
      minute < MINUTES_A_DAY
        ? { ...safe, time: timeAt(minute) }
        : { ...safe, weekday: (safe.weekday % 7) + 1, time: timeAt(0) };
  }
  return safe === timetable ? undefined : safe;
}

const minuteOf = (time: string) => 60 * Number(time.slice(0, 2)) + Number(time.slice(3));

const timeAt = (minute: number) =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');

/** Returns by how many minutes a timetable must move later to be safe. */
function minutesTooEarly(timetable: Timetable, nowMs: number): number {
  const near: number[] = [];
  for (
    let due = nextOccurrence(timetable, nowMs);
    due < nowMs + YEAR_MS;
    due = nextOccurrence(timetable, due)
  ) {
    const distance = fromWeekEnd(due);
    if (Math.abs(distance) < DAY_MS) near.push(distance);
  }
  const meansWeekBefore = timetable.weekday !== 1 && near.every((distance) => distance < 0);
  if (meansWeekBefore) return 0;
  return Math.max(0, Math.ceil((SETTLING_MS - Math.min(...near)) / MINUTE_MS));
}

/** Returns the distance to the closest end of a week in UTC: negative before it. */
function fromWeekEnd(ms: number): number {
  const since = (ms - A_WEEK_END_MS) % WEEK_MS;
  return since > WEEK_MS / 2 ? since - WEEK_MS : since;
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
  const size = Math.ceil(zones.length / Math.ceil(zones.length / MAX_GROUP));
  if (size === zones.length) return [{ label: continent, zones }];
  const starts = Array.from({ length: Math.ceil(zones.length / size) }, (_, index) => index * size);
  return starts.map((start) => {
    const some = zones.slice(start, start + size);
    const [first, last] = [some[0], some.at(-1)].map((zone) => cityOf(zone ?? ''));
    return { label: `${continent} (${first} – ${last})`, zones: some };
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
