import { tryOr } from '../../runtime/try-or.ts';
import { FINAL_AFTER_MS, type Timetable } from '../schedule/timetable.ts';
import type { DayRange } from './model.ts';

/** An ISO week in UTC, Monday to Sunday, named `2026-W38` by the ISO year of the week; or a month in UTC, named `2026-10`. */
export interface Period {
  name: string;
  range: DayRange;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** The platform's maximum range per request. */
const MAX_DAYS = 92;
/** With more days, each point of a chart is a week. */
const MAX_DAILY_POINTS = 14;

const { PlainDate } = Temporal;

/** Returns the day in UTC at a moment. */
export function dayAt(ms: number): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO('UTC').toPlainDate();
}

/** Returns so many days, from this one. */
export const rangeOf = (from: Temporal.PlainDate, days: number): DayRange => ({
  from: from.toString(),
  to: from.add({ days }).toString(),
});

/** Whether two ranges share a day. */
export const overlap = (one: DayRange, other: DayRange | undefined): boolean =>
  other !== undefined && one.from < other.to && other.from < one.to;

const lengthOf = ({ from, to }: DayRange): number =>
  PlainDate.from(from).until(to, { largestUnit: 'day' }).days;

/** Returns the last ISO week that had ended in UTC at a moment: on Monday at 00:00 it is the week just over. */
export function lastCompleteWeek(atMs: number): Period {
  const today = dayAt(atMs);
  return weekOf(today.subtract({ days: today.dayOfWeek - 1 + 7 }));
}

/** Returns the last period of a timetable that had ended in UTC at a moment: a week, or a month. */
export function lastPeriod({ monthly }: Pick<Timetable, 'monthly'>, atMs: number): Period {
  if (!monthly) return lastCompleteWeek(atMs);
  const range = monthBefore(dayAt(atMs).with({ day: 1 }));
  return { name: range.from.slice(0, 7), range };
}

const weekOf = (monday: Temporal.PlainDate): Period => ({
  name: weekNameAt(monday),
  range: rangeOf(monday, 7),
});

const weekNameAt = ({ yearOfWeek, weekOfYear }: Temporal.PlainDate) =>
  `${yearOfWeek}-W${String(weekOfYear).padStart(2, '0')}`;

/** Returns the month before the one that begins on this day. */
function monthBefore(first: Temporal.PlainDate): DayRange {
  const from = first.subtract({ months: 1 });
  return rangeOf(from, from.daysInMonth);
}

/** Returns the name of an ISO week or a month; undefined for any other range. */
export function periodNameOf(range: DayRange): string | undefined {
  if (isMonth(range)) return range.from.slice(0, 7);
  return isWeek(range) ? weekNameAt(PlainDate.from(range.from)) : undefined;
}

/** Returns what a period with this name is. */
export const unitOf = (name: string): 'week' | 'month' => (/^\d{4}-\d/.test(name) ? 'month' : 'week');

/** Returns the ISO weeks that lie in a range as a whole, the earliest first. */
export function weeksIn(range: DayRange): Period[] {
  const days = daysOf(range).map((day) => PlainDate.from(day));
  return days
    .filter((day) => day.dayOfWeek === 1)
    .map(weekOf)
    .filter((week) => week.range.to <= range.to);
}

/** Returns the moment from which a range's views no longer change. */
export const finalAtMs = ({ to }: Pick<DayRange, 'to'>): number =>
  Date.parse(`${to}T00:00:00Z`) + FINAL_AFTER_MS;

/**
 * Returns the preceding range of the same length; the month before a month. For less than a week, it is the same weekdays
 * a week before, since weekends differ from other days.
 */
export function rangeBefore(range: DayRange): DayRange {
  if (isMonth(range)) return monthBefore(PlainDate.from(range.from));
  const days = lengthOf(range);
  return rangeOf(PlainDate.from(range.from).subtract({ days: Math.max(days, 7) }), days);
}

/** Returns the days of a range, the earliest first. */
export function daysOf(range: DayRange): string[] {
  const from = PlainDate.from(range.from);
  return Array.from({ length: Math.max(0, lengthOf(range)) }, (_, days) => from.add({ days }).toString());
}

const isWeek = (range: DayRange): boolean =>
  lengthOf(range) === 7 && PlainDate.from(range.from).dayOfWeek === 1;

/** Returns the week after a week, or the month after a month. */
export function rangeAfter(range: DayRange): DayRange {
  const next = PlainDate.from(range.to);
  return rangeOf(next, isMonth(range) ? next.daysInMonth : lengthOf(range));
}

const isMonth = ({ from, to }: DayRange): boolean => {
  const first = PlainDate.from(from);
  return first.day === 1 && first.add({ months: 1 }).equals(to);
};

/** Returns a range as people write it: "14–20 Sep 2026 (Mon–Sun, UTC)", "October 2026 (UTC)"; no weekdays unless it is an ISO week. */
export const rangeText = (range: DayRange): string => `${daysText(range)} (${zoneText(range)})`;

/** Returns only the days of a range: "14–20 Sep 2026", "October 2026". The zone has to stand elsewhere. */
export function daysText(range: DayRange): string {
  const first = PlainDate.from(range.from);
  if (!isMonth(range)) return spanText(first, lastOf(range), true);
  return first.toLocaleString('en-US', { month: 'long', year: 'numeric' });
}

/** Returns the kind of a range's days: "Mon–Sun, UTC", or "UTC" unless it is an ISO week. */
const zoneText = (range: DayRange): string => (isWeek(range) ? 'Mon–Sun, UTC' : 'UTC');

const lastOf = ({ to }: DayRange) => PlainDate.from(to).subtract({ days: 1 });

/** Returns "14–20 Sep", naming month and year once if both days share them. */
function spanText(first: Temporal.PlainDate, last: Temporal.PlainDate, withYear: boolean): string {
  const end = dateText(last, withYear);
  if (first.equals(last)) return end;
  if (withYear && first.year !== last.year) return `${dateText(first, true)} – ${end}`;
  if (first.year !== last.year || first.month !== last.month) return `${dateText(first, false)} – ${end}`;
  return `${first.day}–${end}`;
}

export const dateText = ({ day, month, year }: Temporal.PlainDate, withYear: boolean) =>
  `${day} ${MONTHS[month - 1]}${withYear ? ` ${year}` : ''}`;

/** `today`: the range includes the unfinished day, which is left out unless it is the whole range. */
type RangeReading = { range: DayRange; today?: 'leftOut' | 'soFar' } | { problem: string };

/**
 * Parses a typed range: `yesterday`, `last week`, `this month`, `14d` (so many finished days), `2026-11-01..2026-11-15`
 * (both included) or one such day. At most 92 days, and none that has not begun in UTC.
 */
export function readRange(text: string, nowMs: number): RangeReading {
  // Longer than any range, so it is not parsed.
  const spaced = text.length > 100 ? '' : text.trim().replace(/\s+/g, ' ').toLowerCase();
  // A sentence may end after it.
  const typed = spaced.endsWith('.') && !spaced.endsWith('..') ? spaced.slice(0, -1).trimEnd() : spaced;
  const today = dayAt(nowMs);
  const named = namedDays(today);
  if (Object.hasOwn(named, typed)) return daysFrom(...(named[typed] ?? [today, 1]), today);
  const finished = /^(?:last )?(\d{1,4}) ?d(?:ays?)?$/.exec(typed)?.[1];
  if (finished !== undefined)
    return Number(finished) === 0
      ? { problem: 'A range has at least one day. Type 1d or more.' }
      : daysFrom(today.subtract({ days: Number(finished) }), Number(finished), today);
  // Keyboards turn dots, or hyphens, into one character.
  const [, firstText, lastText = firstText] =
    /^(20[-\d]{8})(?: ?(?:\.\.\.?|…|\p{Pd}|−|to) ?(20[-\d]{8}))?$/u.exec(typed) ?? [];
  if (firstText === undefined || lastText === undefined) return { problem: HOW_TO_TYPE };
  const [first, last] = [readDay(firstText), readDay(lastText)];
  if (first === undefined || last === undefined)
    return {
      problem: `${first === undefined ? firstText : lastText} isn't a day. Type days like 2026-11-01.`,
    };
  const days = first.until(last, { largestUnit: 'day' }).days + 1;
  if (days < 1) return { problem: 'The range ends before it begins. Type the earlier day first.' };
  return PlainDate.compare(last, today) > 0
    ? { problem: `${last} hasn't begun yet in UTC. The latest day you can ask for is ${today}.` }
    : daysFrom(first, days, today);
}

const HOW_TO_TYPE =
  'I don\'t know that range. Type "yesterday", "last week", "this month", "last month", "14d" for the last 14 finished days, or two days like 2026-11-01..2026-11-15 (both included).';

/** Each range with a name: its first day, and its number of days. */
function namedDays(today: Temporal.PlainDate): Record<string, [first: Temporal.PlainDate, days: number]> {
  const monday = today.subtract({ days: today.dayOfWeek - 1 });
  const month = today.with({ day: 1 });
  const lastMonth = month.subtract({ months: 1 });
  return {
    today: [today, 1],
    yesterday: [today.subtract({ days: 1 }), 1],
    'this week': [monday, today.dayOfWeek],
    'last week': [monday.subtract({ days: 7 }), 7],
    'this month': [month, today.day],
    'last month': [lastMonth, lastMonth.daysInMonth],
  };
}

/** Returns the whole days of a range, for comparison with whole days. */
function daysFrom(first: Temporal.PlainDate, days: number, today: Temporal.PlainDate): RangeReading {
  if (days > MAX_DAYS)
    return { problem: `That is ${days} days, and I can read ${MAX_DAYS} at once. Ask for fewer.` };
  const range = rangeOf(first, days);
  if (!first.add({ days: days - 1 }).equals(today)) return { range };
  return days === 1 ? { range, today: 'soFar' } : { range: rangeOf(first, days - 1), today: 'leftOut' };
}

/** Temporal also reads dates without hyphens, or with a time after them. */
const readDay = (text: string): Temporal.PlainDate | undefined =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) ? tryOr(undefined, () => PlainDate.from(text)) : undefined;

/**
 * Returns the parts of a range that get a total each, as points of its chart: days for up to 14 days, else weeks
 * counted from the end, so that a short last part never looks like a fall. At most 14.
 */
export function spansOf(range: DayRange): DayRange[] {
  const days = lengthOf(range);
  const first = PlainDate.from(range.from);
  const length = days <= MAX_DAILY_POINTS ? 1 : 7;
  const short = days % length || length;
  return Array.from({ length: Math.ceil(days / length) }, (_, index) =>
    index === 0 ? rangeOf(first, short) : rangeOf(first.add({ days: short + (index - 1) * length }), length),
  );
}

/** Returns the labels of these parts of a range in its chart: short, and each different. */
export function chartLabels(spans: readonly DayRange[]): string[] {
  const isDaily = spans.every((span) => lengthOf(span) === 1);
  return spans.map((span) => {
    const first = PlainDate.from(span.from);
    return isDaily ? `${WEEKDAYS[first.dayOfWeek - 1]} ${first.day}` : spanText(first, lastOf(span), false);
  });
}

const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;

/**
 * Returns the earliest safe timetable instead of one that is due too close to the end of a UTC week: between the zone's
 * Monday, or the end if that comes first, and an hour after the end, on the clocks of any season. Returns undefined for
 * a safe one.
 */
export function earliestSafe({ weekday = 1, time, zone }: Timetable, nowMs: number): Timetable | undefined {
  const end = PlainDate.from(lastCompleteWeek(nowMs).range.to).toZonedDateTime('UTC');
  // The end of a UTC week in each week of a year, in minutes since the zone's Monday.
  const ends = Array.from(
    { length: 53 },
    (_, weeks) => end.add({ weeks }).withTimeZone(zone).offsetNanoseconds / 60e9,
  );
  const minute = (weekday - 1) * DAY_MINUTES + 60 * Number(time.slice(0, 2)) + Number(time.slice(3));
  const sinceMonday = minute > WEEK_MINUTES / 2 ? minute - WEEK_MINUTES : minute;
  const safe = Math.ceil(Math.max(...ends) + FINAL_AFTER_MS / 60_000);
  if (sinceMonday < Math.min(0, ...ends) || sinceMonday >= safe) return undefined;
  const day = Math.floor(safe / DAY_MINUTES);
  return {
    weekday: ((day + 7) % 7) + 1,
    time: Temporal.PlainTime.from('00:00').add({ minutes: safe }).toString({ smallestUnit: 'minute' }),
    zone,
  };
}
