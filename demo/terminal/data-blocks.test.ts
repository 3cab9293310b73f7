import { expect, test } from 'vitest';
import { dataLines } from './data-blocks.ts';

interface Point {
  label: string;
  human: number;
  ai: number;
}

const chart = (points: Point[]) => ({
  type: 'data_visualization',
  title: 'Views',
  chart: {
    type: 'bar',
    series: [
      { name: 'People', data: points.map(({ label, human }) => ({ label, value: human })) },
      { name: 'AI', data: points.map(({ label, ai }) => ({ label, value: ai })) },
    ],
  },
});

test('a chart is a bar for each point', () => {
  const points = [
    { label: 'Mon 14 Sep', human: 1620, ai: 410 },
    { label: 'Tue 15 Sep', human: 810, ai: 0 },
    { label: 'Wed 16 Sep', human: 0, ai: 0 },
  ];
  expect(dataLines(chart(points), 50)).toEqual([
    'Views (█ People, ░ AI)',
    'Mon 14 Sep ████████████████████░░░░░ 1,620 + 410',
    'Tue 15 Sep ██████████ 810 + 0',
    'Wed 16 Sep  0 + 0',
  ]);
});

const cells = (...texts: string[]) => texts.map((text) => ({ type: 'raw_text', text }));
const table = {
  type: 'table',
  column_settings: [{ is_wrapped: true }, { align: 'right' }, { is_wrapped: true }],
  rows: [cells('Page', 'Total', 'Change'), cells('/guides/webhooks', '1,687', '▼ 12%')],
};

test('a table has its columns under each other', () => {
  expect(dataLines(table, 70)).toEqual(['Page              Total  Change', '/guides/webhooks  1,687  ▼ 12%']);
});

test('where a table has no room, its first column is cut', () => {
  expect(dataLines(table, 27)).toEqual(['Page          Total  Change', '/guides/web…  1,687  ▼ 12%']);
  expect(dataLines(table, 5)).toEqual(dataLines(table, 27));
});

test('other blocks are left to others', () => {
  expect(dataLines({ type: 'rich_text', elements: [] }, 70)).toBeUndefined();
});
