import { expect, test } from 'vitest';
import { longestPauseMs, median, peak, quantile } from '../../bench/parts/figures.ts';

test('a quantile is a number that is there, whatever the order', () => {
  const numbers = [30, 10, 20, 40];
  expect([0, 0.25, 0.5, 0.95, 1].map((q) => quantile(numbers, q))).toEqual([10, 10, 20, 40, 40]);
  expect(median([3, 1, 2])).toBe(2);
  expect(median([])).toBeNaN();
});

test('the peak is counted in any window, its start left out', () => {
  expect(peak([0, 999, 1000, 1998], 1000)).toBe(3);
  expect(peak([5000, 0, 1000], 1000)).toBe(1);
  expect(peak([], 1000)).toBe(0);
});

test('the longest pause is that between two neighbours', () => {
  expect(longestPauseMs([0, 100, 400, 450])).toBe(300);
  expect(longestPauseMs([5])).toBe(0);
});
