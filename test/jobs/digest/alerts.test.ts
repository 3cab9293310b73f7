import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alertsOf } from '../../../src/jobs/digest/alerts.ts';

const people = (...days: number[]) => days.map((human) => ({ human, ai: 0 }));
const day = (human: number, ai = 0) => ({ human, ai });

describe('a day is unusual', () => {
  const thursdays = people(820, 825, 815, 830, 810, 805, 840, 850);

  test('as in the example of the design', () => {
    // Sorted: 805 810 815 820 825 830 840 850, so that the median is 822.5.
    expect(alertsOf(day(310), thursdays)).toEqual([{ by: 'human', now: 310, usual: 823 }]);
  });

  test.each<[string, number, number[], boolean]>([
    ['30% less is not', 700, Array(8).fill(1000), false],
    ['more than 30% less', 699, Array(8).fill(1000), true],
    ['30% more is not', 910, Array(8).fill(700), false],
    ['more than 30% more', 911, Array(8).fill(700), true],
    // Median 1000, deviation 100: 400 are allowed.
    ['four deviations are not', 600, [900, 900, 900, 900, 1100, 1100, 1100, 1100], false],
    ['more than four', 599, [900, 900, 900, 900, 1100, 1100, 1100, 1100], true],
    ['where 200 are usual', 0, Array(8).fill(200), true],
    ['not where fewer are', 0, [200, 200, 200, 199, 199, 199, 199, 200], false],
    ['not for one that was unusual before', 1000, [1000, 1000, 1000, 1000, 1000, 1000, 0, 90_000], false],
    ['not before eight are known', 0, Array(7).fill(1000), false],
    ['not where nothing is known', 0, [], false],
  ])('%s', (_, views, before, isUnusual) => {
    expect(alertsOf(day(views), people(...before))).toHaveLength(isUnusual ? 1 : 0);
  });

  test('for people and AI apart', () => {
    const known = Array(8).fill(day(1000, 500));
    expect(alertsOf(day(1000, 5000), known)).toEqual([{ by: 'ai', now: 5000, usual: 500 }]);
    expect(alertsOf(day(100, 5000), known).map(({ by }) => by)).toEqual(['human', 'ai']);
    // Together they would be as many as ever.
    expect(alertsOf(day(500, 1000), known)).toHaveLength(2);
  });
});

test('the same as counted by hand, in whatever order the days are', () => {
  const views = fc.oneof(fc.nat(1000), fc.integer({ min: 150, max: 250 }), fc.nat(1e9));
  const eight = fc.array(fc.record({ human: views, ai: views }), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(fc.record({ human: views, ai: views }), eight, (today, known) => {
      const middle = (numbers: number[]) => {
        const [, , , fourth = 0, fifth = 0] = [...numbers].sort((a, b) => a - b);
        return (fourth + fifth) / 2;
      };
      const isUnusual = (by: 'human' | 'ai') => {
        const usual = middle(known.map((one) => one[by]));
        const spread = middle(known.map((one) => Math.abs(one[by] - usual)));
        const off = Math.abs(today[by] - usual);
        return usual >= 200 && off > 4 * spread && off * 10 > usual * 3;
      };
      const expected = (['human', 'ai'] as const).filter(isUnusual);
      expect(alertsOf(today, known).map(({ by }) => by)).toEqual(expected);
      expect(alertsOf(today, known.toReversed())).toEqual(alertsOf(today, known));
    }),
    { numRuns: 1000 },
  );
});
