import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chartText, chartView } from '../../../src/jobs/digest/chart.ts';
import { chartPoints, spansOf } from '../../../src/jobs/digest/weeks.ts';

const points = [
  { label: 'Mon 14 Sep', human: 1620, ai: 410 },
  { label: 'Tue 15 Sep', human: 810, ai: 0 },
  { label: 'Wed 16 Sep', human: 0, ai: 0 },
];

test('the block has the numbers of both series, by label', () => {
  expect(chartView({ title: 'Views per day', points })).toEqual({
    title: 'Views per day',
    labels: ['Mon 14 Sep', 'Tue 15 Sep', 'Wed 16 Sep'],
    series: [
      { name: 'People', values: [1620, 810, 0] },
      { name: 'AI', values: [410, 0, 0] },
    ],
    xTitle: 'Date (UTC)',
    yTitle: 'Views',
  });
});

test('the text has all numbers, to be read aloud', () => {
  expect(chartText(points)).toBe('Mon 14 Sep to Wed 16 Sep: People 1,620, 810, 0; AI 410, 0, 0.');
  expect(chartText(points.slice(0, 1))).toBe('Mon 14 Sep: People 1,620; AI 410.');
});

test('Slack takes the labels of every range: short, not empty, unique', () => {
  const range = fc.record({ first: fc.nat(4000), days: fc.integer({ min: 1, max: 92 }) });
  const day = (n: number) => new Date(Date.UTC(2020, 0, 1) + n * 86_400_000).toISOString().slice(0, 10);
  fc.assert(
    fc.property(range, ({ first, days }) => {
      const spans = spansOf({ from: day(first), to: day(first + days) });
      const labels = chartPoints(spans.map((span) => ({ ...span, human: 1, ai: 1 }))).map(
        ({ label }) => label,
      );
      expect(new Set(labels).size).toBe(labels.length);
      expect(labels.filter((label) => label.length === 0 || label.length > 20)).toEqual([]);
    }),
  );
});
