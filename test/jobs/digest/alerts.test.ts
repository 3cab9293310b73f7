import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Alert, alertsOf, quietAfter, tellable } from '../../../src/jobs/digest/alerts.ts';

const day = (human: number, ai = 0) => ({ human, ai });
/** A day and the 56 before it, the latest first. */
const days = (now: number, ...before: number[]) => [
  day(now),
  ...Array.from({ length: 56 }, (_, at) => day(before[at % before.length] ?? 0)),
];

describe('a day is unusual', () => {
  test('as in the example of the design', () => {
    const known = days(310, 805, 850, 810, 840, 815, 830, 820, 825, 822);
    expect(alertsOf(known)).toEqual([{ by: 'human', now: 310, usual: expect.toSatisfy(isAbout(822)) }]);
  });
  const isAbout = (usual: number) => (value: number) => Math.abs(value - usual) < 15;

  test.each<[string, number, number[], boolean]>([
    ['39% less is not', 610, [1000], false],
    ['40% less is', 600, [1000], true],
    ['39% more is not', 1390, [1000], false],
    ['40% more is', 1400, [1000], true],
    // Half of the days are a tenth away from the others: a deviation of about 7%.
    ['four deviations are not', 800, [1000, 1500], false],
    ['more than four are', 200, [1000, 1100], true],
    ['where the day has 200', 200, [100], true],
    ['not where neither has', 199, [100], false],
    ['none at all where 20 are usual', 0, [20], true],
    ['not none at all where fewer are', 0, [19], false],
    ['not before 57 are known', 0, [], false],
  ])('%s', (_, now, before, isUnusual) => {
    expect(alertsOf(days(now, ...before))).toHaveLength(isUnusual ? 1 : 0);
  });

  test('against its weekday alone', () => {
    const week = [100, 900, 1000, 1000, 1000, 1000, 1000];
    const before = [1000, 1000, 1000, 1000, 1000, 900, 100];
    expect(alertsOf(days(100, ...before))).toEqual([]);
    expect(alertsOf(days(100, ...week))).toHaveLength(1);
  });

  test('a fall by a third that lasts for most of a week is told as one, that of a few days is not', () => {
    const fallen = (count: number) => days(650, 1000).map((one, ago) => (ago < count ? day(650) : one));
    expect(alertsOf(fallen(3))).toEqual([]);
    expect(alertsOf(fallen(7))).toEqual([{ by: 'human', now: 650, usual: 1000, lasting: true }]);
  });

  test('whatever is known, numbers are whole and a move is one', () => {
    const all = fc.array(fc.record({ human: fc.nat(5000), ai: fc.nat(5000) }), {
      minLength: 57,
      maxLength: 57,
    });
    fc.assert(
      fc.property(all, (known) => {
        for (const { now, usual } of alertsOf(known)) {
          expect([Number.isInteger(now), Number.isInteger(usual)]).toEqual([true, true]);
          expect(now).not.toBe(usual);
          expect(usual).toBeGreaterThanOrEqual(20);
        }
      }),
    );
  });
});

describe('after an alert', () => {
  const alert = (by: Alert['by'], now: number, lasting = false): Alert => ({ by, now, usual: 1000, lasting });
  const quiet = (...told: Alert[]) => quietAfter(undefined, told, '2026-11-02');
  const isTold = (next: Alert, known: ReturnType<typeof quiet>, on = '2026-11-04') =>
    tellable([next], known, on).length === 1;

  test.each<[string, Alert, Alert, boolean]>([
    ['the same is not told for a week', alert('human', 400), alert('human', 300), false],
    ['people are told after AI', alert('ai', 1400), alert('human', 400), true],
    ['a larger move the other way is told', alert('human', 1500), alert('human', 400), true],
    ['a smaller one is not', alert('human', 5000), alert('human', 400), false],
    ['no views at all are told', alert('human', 400), alert('human', 0), true],
    ['but once', alert('human', 0), alert('human', 0), false],
    ['nor is a lasting fall', alert('human', 400), alert('human', 600, true), false],
    [
      'a lasting fall is told once in four weeks',
      alert('human', 600, true),
      alert('human', 600, true),
      false,
    ],
  ])('%s', (_, first, next, is) => {
    expect(isTold(next, quiet(first))).toBe(is);
  });

  test('that ends', () => {
    expect(isTold(alert('human', 300), quiet(alert('human', 400)), '2026-11-08')).toBe(false);
    expect(isTold(alert('human', 300), quiet(alert('human', 400)), '2026-11-09')).toBe(true);
    expect(isTold(alert('human', 600, true), quiet(alert('human', 600, true)), '2026-11-30')).toBe(true);
  });
});
