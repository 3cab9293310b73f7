import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  earliestSafe,
  isZone,
  nextOccurrence,
  type Timetable,
  timetable as timetableSchema,
  timetableText,
  WEEKDAYS,
  zoneGroups,
} from '../../../src/jobs/digest/schedule-times.ts';
import { lastCompleteWeek } from '../../../src/jobs/digest/weeks.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string) => Date.parse(text);
/** `when` is a weekday and a time, as in `Mon 09:00`. */
function timetable(when: string, zone: string): Timetable {
  const [weekday = '', time = ''] = when.split(' ');
  return { weekday: WEEKDAYS.findIndex((name) => name.startsWith(weekday)) + 1, time, zone };
}

/** What people there read on their clocks, told by `Intl` and not by what is tested. */
function localTime(ms: number, timeZone: string): string {
  const parts = { weekday: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', { timeZone, ...parts }).format(ms).replace(',', '');
}

function occurrences(times: Timetable, fromMs: number, toMs: number): number[] {
  const found: number[] = [];
  for (let due = nextOccurrence(times, fromMs); due < toMs; due = nextOccurrence(times, due)) found.push(due);
  return found;
}

describe('the next occurrence', () => {
  test.each([
    ['in summer', 'Mon 09:00', 'Europe/Berlin', '2026-09-16T12:00:00Z', '2026-09-21T07:00:00Z'],
    ['at that very moment', 'Mon 09:00', 'Europe/Berlin', '2026-09-21T07:00:00Z', '2026-09-28T07:00:00Z'],
    ['a moment before', 'Mon 09:00', 'Europe/Berlin', '2026-09-21T06:59:59.999Z', '2026-09-21T07:00:00Z'],
    ['a part of one before', 'Mon 09:00', 'UTC', '2026-09-21T08:59:59.999Z', '2026-09-21T09:00:00Z'],
    ['after summer ends', 'Mon 09:00', 'Europe/Berlin', '2026-10-20T00:00:00Z', '2026-10-26T08:00:00Z'],
    ['a day ahead of UTC', 'Mon 14:00', 'Pacific/Auckland', '2026-09-20T00:00:00Z', '2026-09-21T02:00:00Z'],
    ['a skipped time', 'Sun 02:30', 'Europe/Berlin', '2026-03-25T00:00:00Z', '2026-03-29T01:30:00Z'],
    ['after a skipped time', 'Sun 02:30', 'Europe/Berlin', '2026-03-29T01:30:00Z', '2026-04-05T00:30:00Z'],
    ['twice: the first', 'Sun 02:30', 'Europe/Berlin', '2026-10-21T00:00:00Z', '2026-10-25T00:30:00Z'],
    ['twice: not the second', 'Sun 02:30', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-11-01T01:30:00Z'],
    ['a skipped midnight', 'Sun 00:15', 'Africa/Cairo', '2023-04-27T00:00:00Z', '2023-04-29T21:15:00Z'],
    ['a skipped day', 'Fri 12:00', 'Pacific/Apia', '2011-12-29T12:00:00Z', '2011-12-30T22:00:00Z'],
    ['over the year', 'Fri 09:00', 'America/New_York', '2026-12-28T00:00:00Z', '2027-01-01T14:00:00Z'],
  ])('%s', (_, when, zone, after, due) => {
    expect(new Date(nextOccurrence(timetable(when, zone), at(after))).toISOString()).toBe(
      new Date(due).toISOString(),
    );
  });

  test('a clock may tell parts of a millisecond', () => {
    const due = at('2026-09-21T09:00:00Z');
    const mondays = timetable('Mon 09:00', 'UTC');
    expect(nextOccurrence(mondays, due - 0.5)).toBe(due);
    expect(nextOccurrence(mondays, due + 0.5)).toBe(due + 7 * DAY);
  });

  test('comes within a week and an hour, at the local time, whatever the zone', () => {
    const someTimetable = fc.record({
      weekday: fc.integer({ min: 1, max: 7 }),
      // No change of the clocks reaches these hours, so that each is there once.
      time: fc.integer({ min: 6, max: 21 }).map((hour) => `${String(hour).padStart(2, '0')}:15`),
      zone: fc.constantFrom(...zoneGroups().flatMap(({ zones }) => zones)),
    });
    const time = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2036, 0) });
    fc.assert(
      fc.property(someTimetable, time, (times, ms) => {
        const due = nextOccurrence(times, ms);
        expect(due).toBeGreaterThan(ms);
        expect(due - ms).toBeLessThanOrEqual(7 * DAY + 3 * HOUR);
        expect(localTime(due, times.zone)).toBe(`${WEEKDAYS[times.weekday - 1]} ${times.time}`);
        expect(nextOccurrence(times, due - 1)).toBe(due);
      }),
    );
  });
});

describe('the earliest safe time', () => {
  const now = at('2026-11-22T14:00:00Z');

  test.each([
    ['Mon 09:00', 'Europe/Berlin'],
    ['Mon 03:00', 'Europe/Berlin'],
    ['Mon 01:00', 'UTC'],
    ['Sun 23:59', 'UTC'],
    ['Sun 00:00', 'UTC'],
    ['Thu 12:00', 'UTC'],
    ['Thu 12:00', 'Europe/London'],
    ['Sun 02:30', 'Europe/Berlin'],
    ['Mon 14:00', 'Pacific/Auckland'],
    ['Tue 00:00', 'Pacific/Auckland'],
    ['Sun 18:00', 'America/Los_Angeles'],
    ['Mon 00:00', 'America/Los_Angeles'],
    ['Mon 23:00', 'Etc/GMT+12'],
  ])('%s in %s is safe', (when, zone) => {
    expect(earliestSafe(timetable(when, zone), now)).toBeUndefined();
  });

  test.each([
    // Sunday in UTC: the week that people in Berlin call the last is not over.
    ['Mon 00:30', 'Europe/Berlin', 'Mondays 03:00 Europe/Berlin'],
    ['Mon 02:59', 'Europe/Berlin', 'Mondays 03:00 Europe/Berlin'],
    ['Mon 00:00', 'UTC', 'Mondays 01:00 UTC'],
    ['Mon 00:59', 'UTC', 'Mondays 01:00 UTC'],
    ['Mon 01:30', 'Europe/London', 'Mondays 02:00 Europe/London'],
    ['Mon 09:00', 'Pacific/Auckland', 'Mondays 14:00 Pacific/Auckland'],
    ['Mon 09:00', 'Asia/Tokyo', 'Mondays 10:00 Asia/Tokyo'],
    ['Mon 06:00', 'Asia/Kolkata', 'Mondays 06:30 Asia/Kolkata'],
    ['Mon 05:45', 'Asia/Kathmandu', 'Mondays 06:45 Asia/Kathmandu'],
    // Monday in UTC in winter, Sunday in summer.
    ['Sun 16:00', 'America/Los_Angeles', 'Sundays 18:00 America/Los_Angeles'],
    ['Sun 20:30', 'America/New_York', 'Sundays 21:00 America/New_York'],
    // Sunday has no safe time left.
    ['Sun 23:30', 'Atlantic/Azores', 'Mondays 01:00 Atlantic/Azores'],
    ['Mon 00:00', 'Pacific/Kiritimati', 'Mondays 15:00 Pacific/Kiritimati'],
    // Its clocks change by two hours: neither half of the year is within an hour after the end.
    ['Mon 01:30', 'Antarctica/Troll', 'Mondays 03:00 Antarctica/Troll'],
  ])('instead of %s in %s: %s', (when, zone, instead) => {
    const safe = earliestSafe(timetable(when, zone), now);
    expect(safe && timetableText(safe)).toBe(instead);
    expect(safe && earliestSafe(safe, now)).toBeUndefined();
  });

  test('is safe all year and the earliest that is, in every zone', () => {
    const someTimetable = fc.record({
      weekday: fc.constantFrom(7, 1),
      time: fc.nat(24 * 60 - 1).map(clock),
      zone: fc.constantFrom(...zoneGroups().flatMap(({ zones }) => zones)),
    });
    fc.assert(
      fc.property(someTimetable, fc.nat(364), (times, days) => {
        const start = now + days * DAY;
        const safe = earliestSafe(times, start) ?? times;
        expect(problemsOf(safe, start)).toEqual([]);
        if (safe === times) return;
        expect(problemsOf(times, start)).not.toEqual([]);
        const minute = 60 * Number(safe.time.slice(0, 2)) + Number(safe.time.slice(3));
        if (minute > 0) expect(problemsOf({ ...safe, time: clock(minute - 1) }, start)).not.toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  const clock = (minute: number) => new Date(minute * 60_000).toISOString().slice(11, 16);

  /** What is wrong with a year of a timetable, from the weeks that it would tell of. */
  function problemsOf(times: Timetable, start: number): string[] {
    const due = occurrences(times, start, start + 366 * DAY);
    const ages = due.map((ms) => ms - at(lastCompleteWeek(ms).range.to));
    const weeks = due.map((ms) => at(lastCompleteWeek(ms).range.to) / (7 * DAY));
    return [
      ...ages.filter((age) => age < HOUR).map(() => 'too soon'),
      ...(times.weekday === 1 ? ages.filter((age) => age > 6 * DAY).map(() => 'a week old') : []),
      ...weeks.slice(1).flatMap((week, index) => (week - (weeks[index] ?? 0) === 1 ? [] : ['out of step'])),
    ];
  }
});

describe('zones', () => {
  test('a select can take them all, each once', () => {
    const groups = zoneGroups();
    const zones = groups.flatMap((group) => group.zones);
    expect(groups[0]).toEqual({ label: 'UTC', zones: ['UTC'] });
    expect(zones).toEqual(expect.arrayContaining(['Europe/Berlin', 'America/New_York', 'Pacific/Auckland']));
    expect(new Set(zones).size).toBe(zones.length);
    expect(zones.filter((zone) => !isZone(zone))).toEqual([]);
    expect(groups.length).toBeLessThanOrEqual(100);
    expect(new Set(groups.map(({ label }) => label)).size).toBe(groups.length);
    for (const group of groups) {
      expect(group.zones.length).toBeGreaterThan(0);
      expect(group.zones.length).toBeLessThanOrEqual(100);
      expect(group.label.length).toBeLessThanOrEqual(75);
    }
  });

  test("a person's own zone is among them, by the name that Slack has for it", () => {
    const has = (own: string) => zoneGroups(own).some(({ zones }) => zones.includes(own));
    for (const own of ['Asia/Kolkata', 'Asia/Calcutta', 'Europe/Kyiv', 'Europe/Berlin', 'UTC'])
      expect(has(own)).toBe(true);
    expect(zoneGroups('Europe/Berlin')).toEqual(zoneGroups());
    expect(zoneGroups('Nowhere/Land')).toEqual(zoneGroups());
  });

  test('are known by their names only', () => {
    expect(['UTC', 'Europe/Berlin', 'america/argentina/buenos_aires', 'Etc/GMT+12'].map(isZone)).toEqual(
      Array(4).fill(true),
    );
    const others = [
      '',
      '+02:00',
      'Europe',
      'Europe/Berlin ',
      '2026-01-01T00:00Z',
      '[UTC]',
      'x'.repeat(40_000),
    ];
    expect(others.map(isZone)).toEqual(others.map(() => false));
  });
});

test('a timetable is said in a few words, and read as what it is', () => {
  const mondays = timetable('Mon 09:00', 'Europe/Berlin');
  expect(timetableText(mondays)).toBe('Mondays 09:00 Europe/Berlin');
  expect(timetableSchema.parse(mondays)).toEqual(mondays);
  const wrong = [{ weekday: 0 }, { weekday: 8 }, { time: '9:00' }, { time: '24:00' }, { time: '09:60' }];
  for (const one of wrong) expect(timetableSchema.safeParse({ ...mondays, ...one }).success).toBe(false);
});
