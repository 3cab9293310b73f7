import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chartLabels,
  daysOf,
  earliestSafe,
  lastCompleteWeek,
  lastPeriod,
  rangeAfter,
  rangeBefore,
  rangeText,
  readRange,
  spansOf,
  weeksIn,
} from '../../../src/jobs/digest/weeks.ts';
import {
  isZone,
  nextOccurrence,
  type Timetable,
  timetableText,
  WEEKDAYS,
  zoneGroups,
} from '../../../src/jobs/schedule/timetable.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string) => Date.parse(text);
const range = (from: string, to: string) => ({ from, to });
const anyTime = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2100, 0) });

/** `when` is a weekday and a time, as in `Mon 09:00`. */
function timetable(when: string, zone: string): Timetable {
  const [weekday = '', time = ''] = when.split(' ');
  return { weekday: WEEKDAYS.findIndex((name) => name.startsWith(weekday)) + 1, time, zone };
}

describe('the next occurrence', () => {
  test.each([
    ['at that very moment', 'Mon 09:00', 'Europe/Berlin', '2026-09-21T07:00:00Z', '2026-09-28T07:00:00Z'],
    ['a part of one before', 'Mon 09:00', 'UTC', '2026-09-21T08:59:59.9995Z', '2026-09-21T09:00:00Z'],
    ['after summer ends', 'Mon 09:00', 'Europe/Berlin', '2026-10-20T00:00:00Z', '2026-10-26T08:00:00Z'],
    ['a day ahead of UTC', 'Mon 14:00', 'Pacific/Auckland', '2026-09-20T00:00:00Z', '2026-09-21T02:00:00Z'],
    ['a skipped time', 'Sun 02:30', 'Europe/Berlin', '2026-03-25T00:00:00Z', '2026-03-29T01:30:00Z'],
    ['twice: the first', 'Sun 02:30', 'Europe/Berlin', '2026-10-21T00:00:00Z', '2026-10-25T00:30:00Z'],
    ['twice: not the second', 'Sun 02:30', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-11-01T01:30:00Z'],
    ['a skipped midnight', 'Sun 00:15', 'Africa/Cairo', '2023-04-27T00:00:00Z', '2023-04-29T21:15:00Z'],
    ['a skipped day', 'Fri 12:00', 'Pacific/Apia', '2011-12-29T12:00:00Z', '2011-12-30T22:00:00Z'],
  ])('%s', (_, when, zone, after, due) => {
    expect(new Date(nextOccurrence(timetable(when, zone), at(after))).toISOString()).toBe(
      new Date(due).toISOString(),
    );
  });
});

describe('the next time of a month', () => {
  test.each([
    ['a quarter of an hour too early', '00:45', 'UTC', '2026-09-30T23:00:00Z', '2026-10-02T00:45:00Z'],
    ['an hour after the end', '01:00', 'UTC', '2026-10-01T00:59:59Z', '2026-10-01T01:00:00Z'],
    ['not twice', '01:00', 'UTC', '2026-10-01T01:00:00Z', '2026-11-01T01:00:00Z'],
    ['14 hours ahead', '09:00', 'Pacific/Kiritimati', '2026-09-15T00:00:00Z', '2026-10-01T19:00:00Z'],
    ['on its 1st there', '15:00', 'Pacific/Kiritimati', '2026-09-15T00:00:00Z', '2026-10-01T01:00:00Z'],
    ['on its 30th there', '15:00', 'Pacific/Honolulu', '2026-09-15T00:00:00Z', '2026-10-01T01:00:00Z'],
    ['ten hours behind', '14:59', 'Pacific/Honolulu', '2026-09-15T00:00:00Z', '2026-10-02T00:59:00Z'],
    ['after a leap day', '09:00', 'Europe/Berlin', '2028-02-29T12:00:00Z', '2028-03-01T08:00:00Z'],
    ['skipped with its day', '12:00', 'Pacific/Apia', '2011-12-15T00:00:00Z', '2012-01-01T22:00:00Z'],
  ])('%s', (_, time, zone, after, due) => {
    expect(nextOccurrence({ monthly: true, time, zone }, at(after))).toBe(at(due));
  });

  const zones = ['Pacific/Kiritimati', 'Pacific/Honolulu', 'Europe/Berlin', 'Australia/Lord_Howe', 'UTC'];
  const timetables = fc.record({
    monthly: fc.constant(true as const),
    time: fc.nat({ max: 1439 }).map((minute) => new Date(minute * 60_000).toISOString().slice(11, 16)),
    zone: fc.constantFrom(...zones),
  });

  test('of any zone, each month has one within two days after it is final, from whatever moment', () => {
    fc.assert(
      fc.property(timetables, anyTime, (monthly, ms) => {
        const due = nextOccurrence(monthly, ms);
        const { range } = lastPeriod(monthly, due);
        expect(due).toBeGreaterThan(ms);
        expect(due - at(range.to)).toBeGreaterThanOrEqual(HOUR);
        expect(due - at(range.to)).toBeLessThan(2 * DAY);
        const next = lastPeriod(monthly, nextOccurrence(monthly, due)).range;
        expect([next, rangeBefore(next)]).toEqual([rangeAfter(range), range]);
      }),
    );
  });

  test('is written as people say it', () => {
    const timetable = { monthly: true as const, time: '09:00', zone: 'Europe/Berlin' };
    expect(timetableText(timetable)).toBe('every month 09:00 Europe/Berlin');
  });
});

describe('the earliest safe time', () => {
  const now = at('2026-11-22T14:00:00Z');

  test.each([
    ['Mon 03:00', 'Europe/Berlin'],
    ['Mon 01:00', 'UTC'],
    ['Sun 23:59', 'UTC'],
    ['Thu 12:00', 'Europe/London'],
    ['Sun 02:30', 'Europe/Berlin'],
    ['Mon 14:00', 'Pacific/Auckland'],
    ['Sun 18:00', 'America/Los_Angeles'],
    ['Mon 23:00', 'Etc/GMT+12'],
  ])('%s in %s is safe', (when, zone) => {
    expect(earliestSafe(timetable(when, zone), now)).toBeUndefined();
  });

  test.each([
    // Sunday in UTC: the week that people in Berlin call the last is not over.
    ['Mon 00:30', 'Europe/Berlin', 'Mondays 03:00 Europe/Berlin'],
    ['Mon 00:59', 'UTC', 'Mondays 01:00 UTC'],
    ['Mon 01:30', 'Europe/London', 'Mondays 02:00 Europe/London'],
    ['Mon 09:00', 'Pacific/Auckland', 'Mondays 14:00 Pacific/Auckland'],
    ['Mon 05:45', 'Asia/Kathmandu', 'Mondays 06:45 Asia/Kathmandu'],
    // Monday in UTC in winter, Sunday in summer.
    ['Sun 16:00', 'America/Los_Angeles', 'Sundays 18:00 America/Los_Angeles'],
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
});

describe('zones', () => {
  test('a select can take them all, each once', () => {
    const groups = zoneGroups();
    const zones = groups.flatMap(({ values }) => values);
    expect(groups[0]).toEqual({ label: 'UTC', values: ['UTC'] });
    expect(new Set(zones).size).toBe(zones.length);
    expect(zones.filter((zone) => !isZone(zone))).toEqual([]);
    expect(new Set(groups.map(({ label }) => label)).size).toBe(groups.length);
    for (const group of groups) expect(group.values.length).toBeLessThanOrEqual(100);
  });

  test("a person's own zone is among them, by the name that Slack has for it", () => {
    for (const own of ['Asia/Kolkata', 'Asia/Calcutta', 'Europe/Kyiv', 'Europe/Berlin', 'UTC'])
      expect(zoneGroups(own).some(({ values }) => values.includes(own))).toBe(true);
    expect(zoneGroups('Nowhere/Land')).toEqual(zoneGroups());
  });

  test.each(['', '+02:00', 'Europe', 'Europe/Berlin ', '2026-01-01T00:00Z', '[UTC]', 'x'.repeat(40_000)])(
    '%.20s is none',
    (text) => {
      expect(isZone(text)).toBe(false);
    },
  );
});

test.each([
  ['on Monday at 00:00', '2026-09-21T00:00:00Z', '2026-W38', '2026-09-14', '2026-09-21'],
  ['a moment before', '2026-09-20T23:59:59.999Z', '2026-W37', '2026-09-07', '2026-09-14'],
  ['the 53rd of 2026', '2027-01-04T00:00:00Z', '2026-W53', '2026-12-28', '2027-01-04'],
  ['the first of 2026, begun in 2025', '2026-01-05T00:00:00Z', '2026-W01', '2025-12-29', '2026-01-05'],
  ['with a leap day', '2028-03-06T00:00:00Z', '2028-W09', '2028-02-28', '2028-03-06'],
])('the last complete week %s', (_, now, name, from, to) => {
  expect(lastCompleteWeek(at(now))).toEqual({ name, range: { from, to } });
});

test.each([
  ['on the 1st at 00:00', '2026-10-01T00:00:00Z', '2026-09', '2026-09-01', '2026-10-01'],
  ['a moment before', '2026-09-30T23:59:59.999Z', '2026-08', '2026-08-01', '2026-09-01'],
  ['of a year', '2027-01-01T00:00:00Z', '2026-12', '2026-12-01', '2027-01-01'],
  ['with a leap day', '2028-03-31T12:00:00Z', '2028-02', '2028-02-01', '2028-03-01'],
])('the last complete month %s', (_, now, name, from, to) => {
  expect(lastPeriod({ monthly: true }, at(now))).toEqual({ name, range: { from, to } });
});

test('the weeks of a month are those that lie in it as a whole', () => {
  const names = (from: string, to: string) => weeksIn({ from, to }).map(({ name }) => name);
  expect(names('2026-10-01', '2026-11-01')).toEqual(['2026-W41', '2026-W42', '2026-W43']);
  expect(names('2027-02-01', '2027-03-01')).toEqual(['2027-W05', '2027-W06', '2027-W07', '2027-W08']);
});

describe('a range', () => {
  test('before another is as long and ends where that begins', () => {
    expect(rangeBefore(range('2026-01-05', '2026-01-12'))).toEqual(range('2025-12-29', '2026-01-05'));
    expect(rangeBefore(range('2026-03-01', '2026-03-02'))).toEqual(range('2026-02-22', '2026-02-23'));
    expect(rangeBefore(range('2026-11-01', '2026-11-16'))).toEqual(range('2026-10-17', '2026-11-01'));
    expect(rangeBefore(range('2026-03-01', '2026-04-01'))).toEqual(range('2026-02-01', '2026-03-01'));
    expect(rangeBefore(range('2026-03-02', '2026-04-02'))).toEqual(range('2026-01-30', '2026-03-02'));
  });

  test.each([
    ['2026-09-14', '2026-09-21', '14–20 Sep 2026 (Mon–Sun, UTC)'],
    ['2026-12-28', '2027-01-04', '28 Dec 2026 – 3 Jan 2027 (Mon–Sun, UTC)'],
    ['2026-09-28', '2026-10-03', '28 Sep – 2 Oct 2026 (UTC)'],
    ['2026-09-14', '2026-09-15', '14 Sep 2026 (UTC)'],
    ['2026-09-01', '2026-10-01', 'September 2026 (UTC)'],
    ['2026-09-01', '2026-09-30', '1–29 Sep 2026 (UTC)'],
  ])('from %s to %s is called %s', (from, to, text) => {
    expect(rangeText({ from, to })).toBe(text);
  });
});

describe('a range that somebody types', () => {
  const now = at('2026-11-22T14:00:00Z');

  test.each<[string, string, string, string?]>([
    [' Last  WEEK ', '2026-11-09', '2026-11-16'],
    ['14d', '2026-11-08', '2026-11-22'],
    ['92 days', '2026-08-22', '2026-11-22'],
    ['last 30 days', '2026-10-23', '2026-11-22'],
    ['2026-11-01..2026-11-15', '2026-11-01', '2026-11-16'],
    ['2026-11-01…2026-11-15', '2026-11-01', '2026-11-16'],
    ['2026-11-01 to 2026-11-15', '2026-11-01', '2026-11-16'],
    ['2026-11-01 — 2026-11-15.', '2026-11-01', '2026-11-16'],
    ['yesterday', '2026-11-21', '2026-11-22'],
    ['Last month.', '2026-10-01', '2026-11-01'],
    ['this month', '2026-11-01', '2026-11-22', 'leftOut'],
    ['this week', '2026-11-16', '2026-11-22', 'leftOut'],
    ['2026-11-22', '2026-11-22', '2026-11-23', 'soFar'],
    ['today', '2026-11-22', '2026-11-23', 'soFar'],
  ])('%s', (text, from, to, today) => {
    expect(readRange(text, now)).toEqual({ range: { from, to }, ...(today && { today }) });
  });

  test('"this month" on its first day is that day so far', () => {
    expect(readRange('this month', at('2027-01-01T14:00:00Z'))).toEqual({
      range: { from: '2027-01-01', to: '2027-01-02' },
      today: 'soFar',
    });
  });

  test.each([
    ['0d', 'A range has at least one day.'],
    ['93d', 'That is 93 days, and I can read 92 at once.'],
    ['2026-11-15..2026-11-01', 'Type the earlier day first.'],
    [
      '2026-11-15..2026-11-23',
      "2026-11-23 hasn't begun yet in UTC. The latest day you can ask for is 2026-11-22.",
    ],
    ['2026-02-01..2026-13-01', "2026-13-01 isn't a day."],
    ['20261101..20261115', "I don't know that range."],
    ['2026--1101..2026-11-15', "2026--1101 isn't a day."],
    ['1e1d', "I don't know that range."],
    ['<!channel>', "I don't know that range."],
    [`2026-11-01${' '.repeat(40_000)}..2026-11-15`, "I don't know that range."],
  ])('%.40s is unclear', (text, problem) => {
    const read = readRange(text, now);
    expect('problem' in read && read.problem).toContain(problem);
  });

  test('never breaks; it has 1 to 92 days, none of the future, and is written as it is typed', () => {
    const written = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 120 }),
      fc.stringMatching(/^20\d\d-[01]\d-[0-3]\d\.\.20\d\d-[01]\d-[0-3]\d$/),
      fc.nat(200).map((days) => `${days}d`),
    );
    fc.assert(
      fc.property(written, anyTime, (text, ms) => {
        const reading = readRange(text, ms);
        if ('problem' in reading) return;
        const days = daysOf(reading.range);
        expect(days.length).toBeGreaterThan(0);
        expect(days.length).toBeLessThanOrEqual(92);
        expect(at(days.at(-1) ?? '')).toBeLessThanOrEqual(ms);
        expect(readRange(`${days[0]}..${days.at(-1)}`, ms)).toMatchObject({ range: reading.range });
      }),
    );
  });
});

describe('the parts of a range', () => {
  const labels = (from: string, to: string) => chartLabels(spansOf({ from, to }));

  test('are the days of up to two weeks, above that weeks, a short one first', () => {
    const days = ['Mon 28', 'Tue 29', 'Wed 30', 'Thu 1', 'Fri 2', 'Sat 3', 'Sun 4'];
    expect(labels('2026-09-28', '2026-10-05')).toEqual(days);
    expect(labels('2026-11-01', '2026-11-15')).toHaveLength(14);
    expect(labels('2026-12-10', '2027-01-04')).toEqual([
      '10–13 Dec',
      '14–20 Dec',
      '21–27 Dec',
      '28 Dec – 3 Jan',
    ]);
  });

  test('follow each other without a gap, and all fit', () => {
    fc.assert(
      fc.property(anyTime, fc.integer({ min: 1, max: 92 }), (ms, length) => {
        const from = new Date(ms).toISOString().slice(0, 10);
        const to = new Date(at(from) + length * DAY).toISOString().slice(0, 10);
        const spans = spansOf({ from, to });
        expect(spans.flatMap(daysOf)).toEqual(daysOf({ from, to }));
        expect(spans.length).toBeLessThanOrEqual(14);
        expect(new Set(labels(from, to)).size).toBe(spans.length);
      }),
    );
  });
});
