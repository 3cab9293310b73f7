import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chartText, chartView } from '../../../src/jobs/digest/chart-view.ts';

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

const words = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'Mon',
    '<!channel>',
    '😀'.repeat(30),
    'Monday '.repeat(10),
    '\u202E\u0000',
    'x (2)',
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const views = fc.integer({ min: 0, max: 1_000_000_000 });
const anyPoints = fc.array(fc.record({ label: words, human: views, ai: views }), {
  minLength: 1,
  maxLength: 20,
});

test('whatever the words are, Slack takes them: short, not empty, unique', () => {
  fc.assert(
    fc.property(words, anyPoints, (title, all) => {
      const view = chartView({ title, points: all });
      expect(view.title.length).toBeGreaterThan(0);
      expect(view.title.length).toBeLessThanOrEqual(50);
      expect(view.labels).toHaveLength(all.length);
      expect(new Set(view.labels).size).toBe(all.length);
      for (const label of view.labels) {
        expect(label.length).toBeGreaterThan(0);
        expect(label.length).toBeLessThanOrEqual(20);
        expect(label.isWellFormed()).toBe(true);
        expect(label).not.toMatch(/\p{Cc}|\u202E/u);
      }
    }),
  );
});
