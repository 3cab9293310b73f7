import { z } from 'zod';

/** A weekly, daily or monthly time, in the local time of a zone; or in its place, each update of the site from here. */
export const timetable = z.object({
  /** 1 is Monday, 7 is Sunday; if missing, every day or month. */
  weekday: z.number().int().min(1).max(7).optional(),
  /** The first such time after each month in UTC at which the month's numbers are final. */
  monthly: z.literal(true).optional(),
  /** 24-hour `HH:MM`. */
  time: z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/),
  zone: z.string(),
  afterUpdates: z.literal(true).optional(),
});
export type Timetable = z.infer<typeof timetable>;

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** After the end of a day in UTC, the platform may still count its last views for this long. */
export const FINAL_AFTER_MS = 3_600_000;

/** The latest time of `Temporal`: no time is due. An update makes the schedule due. */
const NEVER_MS = 8.64e15;

/**
 * Returns the first moment after `afterMs` at which the timetable is due. Clock changes keep the local hour. A skipped time
 * is due later by the length of the skip; a repeated time is due at its first occurrence.
 */
export function nextOccurrence(timetable: Timetable, afterMs: number): number {
  const { weekday, time, zone, monthly, afterUpdates } = timetable;
  if (afterUpdates) return NEVER_MS;
  if (monthly) return nextOfMonth({ time, zone }, afterMs);
  const after = Temporal.Instant.fromEpochMilliseconds(Math.floor(afterMs)).toZonedDateTimeISO(zone);
  // Starts a day earlier, since a zone that skips a whole day moves its times to the next.
  const start = after.toPlainDate().subtract({ days: 1 });
  for (let days = 0; ; days += 1) {
    const day = start.add({ days });
    if (weekday !== undefined && day.dayOfWeek !== weekday) continue;
    const due = day.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds;
    if (due > afterMs) return due;
  }
}

/** Each month has one, within two days of its end, so none is skipped or repeated. */
function nextOfMonth(daily: Timetable, afterMs: number): number {
  const now = Temporal.Instant.fromEpochMilliseconds(Math.floor(afterMs)).toZonedDateTimeISO('UTC');
  const begun = now.with({ day: 1 }).startOfDay();
  const [due = NEVER_MS, later = NEVER_MS] = [begun, begun.add({ months: 1 })].map((end) =>
    nextOccurrence(daily, end.epochMilliseconds + FINAL_AFTER_MS - 1),
  );
  return due > afterMs ? due : later;
}

/** Slack's maximum for a group of a select. */
const MAX_GROUP = 100;

/**
 * Returns all time zones by continent, at most 100 per group, UTC first. `own` is the person's zone from Slack; it gets
 * its own group if the list has it only by another name, such as Asia/Calcutta for Asia/Kolkata.
 */
export function zoneGroups(own = 'UTC'): { label: string; values: string[] }[] {
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/'));
  const continents = Map.groupBy(zones, (zone) => zone.slice(0, zone.indexOf('/')));
  const isMissing = own !== 'UTC' && isZone(own) && !zones.includes(own);
  return [
    ...(isMissing ? [{ label: 'Yours', values: [own] }] : []),
    { label: 'UTC', values: ['UTC'] },
    ...[...continents].flatMap(([continent, all]) => split(continent, all)),
  ];
}

/** Splits the zones of a continent into as few groups as possible, of similar size: "America (Adak – Juneau)". */
function split(continent: string, zones: string[]) {
  const groups = Math.ceil(zones.length / MAX_GROUP);
  const size = Math.ceil(zones.length / groups);
  return Array.from({ length: groups }, (_, index) => {
    const some = zones.slice(index * size, (index + 1) * size);
    const cities = `${cityOf(some[0])} – ${cityOf(some.at(-1))}`;
    return { label: groups === 1 ? continent : `${continent} (${cities})`, values: some };
  });
}

const cityOf = (zone = '') => zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');

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

/** Returns a timetable as people say it: "Mondays 09:00 Europe/Berlin", "every day 09:00 UTC", "every month 09:00 UTC". */
export function timetableText({ weekday, time, zone, monthly, afterUpdates }: Timetable): string {
  if (afterUpdates) return 'after each site update started in Slack';
  const days = weekday === undefined ? `every ${monthly ? 'month' : 'day'}` : `${WEEKDAYS[weekday - 1]}s`;
  return `${days} ${time} ${zone}`;
}
