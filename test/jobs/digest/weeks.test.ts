import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chartLabels,
  daysOf,
  lastCompleteWeek,
  rangeText,
  readRange,
  spansOf,
  typedRange,
  weekBefore,
} from '../../../src/jobs/digest/weeks.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string) => Date.parse(text);
const range = (from: string, to: string) => ({ from, to });
const anyTime = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2100, 0) });

describe('the last complete week', () => {
  test.each([
    ['on Monday at 00:00', '2026-09-21T00:00:00Z', '2026-W38', '2026-09-14', '2026-09-21'],
    ['a moment before', '2026-09-20T23:59:59.999Z', '2026-W37', '2026-09-07', '2026-09-14'],
    ['on a Sunday', '2026-09-27T23:00:00Z', '2026-W38', '2026-09-14', '2026-09-21'],
    ['the 53rd of 2026', '2027-01-04T00:00:00Z', '2026-W53', '2026-12-28', '2027-01-04'],
    ['the 52nd, in January', '2027-01-03T12:00:00Z', '2026-W52', '2026-12-21', '2026-12-28'],
    ['the first of 2027', '2027-01-11T00:00:00Z', '2027-W01', '2027-01-04', '2027-01-11'],
    ['the first of 2026, begun in 2025', '2026-01-05T00:00:00Z', '2026-W01', '2025-12-29', '2026-01-05'],
    ['with a leap day', '2028-03-06T00:00:00Z', '2028-W09', '2028-02-28', '2028-03-06'],
  ])('%s', (_, now, name, from, to) => {
    expect(lastCompleteWeek(at(now))).toEqual({ name, range: { from, to } });
  });

  test('a clock may tell parts of a millisecond', () => {
    expect(lastCompleteWeek(at('2026-09-21T00:00:00Z') - 0.5).name).toBe('2026-W37');
  });

  test('is seven days from a Monday, over for less than a week, and next week has another name', () => {
    fc.assert(
      fc.property(anyTime, (ms) => {
        const { name, range: week } = lastCompleteWeek(ms);
        const [from, to] = [at(week.from), at(week.to)];
        expect(to - from).toBe(7 * DAY);
        expect(new Date(from).getUTCDay()).toBe(1);
        expect(to).toBeLessThanOrEqual(ms);
        expect(ms - to).toBeLessThan(7 * DAY);
        // The week belongs to the year of its Thursday.
        const thursday = new Date(from + 3 * DAY);
        const number = Math.ceil((+thursday + DAY - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / (7 * DAY));
        expect(name).toBe(`${thursday.getUTCFullYear()}-W${number < 10 ? '0' : ''}${number}`);
        expect(lastCompleteWeek(ms + 7 * DAY).range.from).toBe(week.to);
      }),
    );
  });
});

describe('a range', () => {
  test('before another is as long and ends where that begins', () => {
    expect(weekBefore(range('2026-01-05', '2026-01-12'))).toEqual(range('2025-12-29', '2026-01-05'));
    expect(weekBefore(range('2026-03-01', '2026-03-02'))).toEqual(range('2026-02-22', '2026-02-23'));
    expect(weekBefore(range('2026-11-01', '2026-11-16'))).toEqual(range('2026-10-17', '2026-11-01'));
  });

  test('has its days in order, without the day it ends at', () => {
    expect(daysOf(range('2028-02-28', '2028-03-02'))).toEqual(['2028-02-28', '2028-02-29', '2028-03-01']);
    expect(daysOf(range('2026-03-01', '2026-03-01'))).toEqual([]);
    expect(daysOf(range('2026-03-02', '2026-03-01'))).toEqual([]);
  });

  test.each([
    ['2026-09-14', '2026-09-21', '14–20 Sep 2026 (Mon–Sun, UTC)'],
    ['2026-09-28', '2026-10-05', '28 Sep – 4 Oct 2026 (Mon–Sun, UTC)'],
    ['2026-12-28', '2027-01-04', '28 Dec 2026 – 3 Jan 2027 (Mon–Sun, UTC)'],
    ['2026-11-01', '2026-11-16', '1–15 Nov 2026 (UTC)'],
    ['2026-09-15', '2026-09-22', '15–21 Sep 2026 (UTC)'],
    ['2026-09-14', '2026-09-15', '14 Sep 2026 (UTC)'],
    ['2025-11-14', '2026-02-14', '14 Nov 2025 – 13 Feb 2026 (UTC)'],
  ])('from %s to %s is called %s', (from, to, text) => {
    expect(rangeText({ from, to })).toBe(text);
  });
});

describe('a range that somebody types', () => {
  const now = at('2026-11-22T14:00:00Z');
  const read = (text: string) => readRange(text, now);
  const problemOf = (text: string) => {
    const reading = read(text);
    return reading.kind === 'unclear' ? reading.problem : reading;
  };

  test.each([
    ['last week', '2026-11-09', '2026-11-16'],
    [' Last  WEEK ', '2026-11-09', '2026-11-16'],
    ['14d', '2026-11-08', '2026-11-22'],
    ['1d', '2026-11-21', '2026-11-22'],
    ['92 days', '2026-08-22', '2026-11-22'],
    ['2026-11-01..2026-11-15', '2026-11-01', '2026-11-16'],
    ['2026-11-01 .. 2026-11-15', '2026-11-01', '2026-11-16'],
    ['2026-11-01...2026-11-15', '2026-11-01', '2026-11-16'],
    ['2026-11-01…2026-11-15', '2026-11-01', '2026-11-16'],
    ['2026-11-01 to 2026-11-15', '2026-11-01', '2026-11-16'],
    ['2026-11-01 — 2026-11-15.', '2026-11-01', '2026-11-16'],
    ['2026-11-01-2026-11-15', '2026-11-01', '2026-11-16'],
    ['yesterday', '2026-11-21', '2026-11-22'],
    ['Last month.', '2026-10-01', '2026-11-01'],
    ['30 days', '2026-10-23', '2026-11-22'],
    ['last 30 days', '2026-10-23', '2026-11-22'],
    ['2024-02-29..2024-02-29', '2024-02-29', '2024-03-01'],
  ])('%s', (text, from, to) => {
    expect(read(text)).toEqual({ kind: 'range', range: { from, to } });
  });

  test.each([
    ['2026-08-23..2026-11-22', '2026-08-23', '2026-11-22', 'leftOut'],
    ['this month', '2026-11-01', '2026-11-22', 'leftOut'],
    ['this week', '2026-11-16', '2026-11-22', 'leftOut'],
    ['2026-11-22', '2026-11-22', '2026-11-23', 'soFar'],
    ['today', '2026-11-22', '2026-11-23', 'soFar'],
  ])('%s goes to today, which is not over', (text, from, to, today) => {
    expect(read(text)).toEqual({ kind: 'range', range: { from, to }, today });
  });

  test('"this month" on its first day is that day so far, "last month" of January is December', () => {
    const first = at('2027-01-01T14:00:00Z');
    expect(readRange('this month', first)).toEqual({
      kind: 'range',
      range: { from: '2027-01-01', to: '2027-01-02' },
      today: 'soFar',
    });
    expect(readRange('last month', first)).toEqual({
      kind: 'range',
      range: { from: '2026-12-01', to: '2027-01-01' },
    });
  });

  test.each([
    ['0d', 'A range has at least one day.'],
    ['93d', 'That is 93 days, and I can read 92 at once.'],
    ['2026-08-22..2026-11-22', 'That is 93 days, and I can read 92 at once.'],
    ['2026-11-15..2026-11-01', 'Type the earlier day first.'],
    [
      '2026-11-15..2026-11-23',
      '2026-11-23 has not begun yet in UTC. The latest day you can ask for is 2026-11-22.',
    ],
    ['2026-02-29..2026-03-01', '2026-02-29 is not a day.'],
    ['2026-02-01..2026-13-01', '2026-13-01 is not a day.'],
    ['20261101..20261115', "I don't know that range."],
    ['2026--1101..2026-11-15', '2026--1101 is not a day.'],
    ['2026-11-01..', "I don't know that range."],
    ['-1d', "I don't know that range."],
    ['1e1d', "I don't know that range."],
    ['', "I don't know that range."],
    ['<!channel>', "I don't know that range."],
  ])('%s is unclear', (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  test('longer than any range is unclear', () => {
    expect(problemOf(`2026-11-01${' '.repeat(40_000)}..2026-11-15`)).toContain("I don't know that range.");
  });

  test('never breaks; what is a range has 1 to 92 days, none of the future', () => {
    const written = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 120 }),
      fc.stringMatching(/^20\d\d-[01]\d-[0-3]\d\.\.20\d\d-[01]\d-[0-3]\d$/),
      fc.nat(200).map((days) => `${days}d`),
    );
    fc.assert(
      fc.property(written, anyTime, (text, ms) => {
        const reading = readRange(text, ms);
        if (reading.kind === 'unclear') return;
        const days = daysOf(reading.range);
        expect(days.length).toBeGreaterThan(0);
        expect(days.length).toBeLessThanOrEqual(92);
        expect(at(days.at(-1) ?? '')).toBeLessThanOrEqual(ms);
        expect(readRange(typedRange(reading.range), ms)).toMatchObject({ range: reading.range });
      }),
    );
  });

  test('is written as it is typed', () => {
    expect(typedRange(range('2026-11-01', '2026-11-16'))).toBe('2026-11-01..2026-11-15');
    expect(typedRange(range('2026-11-01', '2026-11-02'))).toBe('2026-11-01');
  });
});

describe('the parts of a range', () => {
  const labels = (from: string, to: string) => chartLabels(spansOf({ from, to }));

  test('are the days of up to two weeks', () => {
    const days = ['Mon 28', 'Tue 29', 'Wed 30', 'Thu 1', 'Fri 2', 'Sat 3', 'Sun 4'];
    expect(labels('2026-09-28', '2026-10-05')).toEqual(days);
    expect(labels('2026-11-01', '2026-11-15')).toHaveLength(14);
  });

  test('are weeks above that, a short one first', () => {
    const weeks = ['10–13 Dec', '14–20 Dec', '21–27 Dec', '28 Dec – 3 Jan'];
    expect(labels('2026-12-10', '2027-01-04')).toEqual(weeks);
    expect(labels('2026-11-01', '2026-11-16')).toEqual(['1 Nov', '2–8 Nov', '9–15 Nov']);
  });

  test('follow each other without a gap, and all fit', () => {
    fc.assert(
      fc.property(anyTime, fc.integer({ min: 1, max: 92 }), (ms, length) => {
        const from = new Date(ms).toISOString().slice(0, 10);
        const to = new Date(at(from) + length * DAY).toISOString().slice(0, 10);
        const spans = spansOf({ from, to });
        expect(spans.flatMap(daysOf)).toEqual(daysOf({ from, to }));
        expect(spans.length).toBeLessThanOrEqual(14);
        const names = labels(from, to);
        expect(new Set(names).size).toBe(spans.length);
        for (const name of names) expect(name.length).toBeLessThanOrEqual(20);
        // The latest is never short.
        if (length > 14) expect(daysOf(spans.at(-1) ?? { from, to })).toHaveLength(7);
      }),
    );
  });
});
