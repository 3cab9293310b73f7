import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../demo/slack/notifies.ts';
import { render } from '../../demo/slack/render.ts';
import type { Block } from '../../demo/slack/workspace.ts';
import { chartBlock, tableBlock } from '../../src/slack/blocks.ts';
import { hostileText } from '../support/arbitraries.ts';

const reads = (block: object) =>
  render({ text: '', blocks: [block as Block] }, { user: String, channel: String, group: String });

describe('a table', () => {
  test('has cells of plain text, numbers with separators, and no empty cell', () => {
    const table = tableBlock(
      ['Page', 'Views', ''],
      [
        ['/a *b*', 12480, ' \u{E0041} '],
        ['', 0, '+3\nmore'],
      ],
    );
    expect(mistakesIn([table], 'message')).toEqual([]);
    expect(reads(table)).toBe('Page | Views | –\n/a *b* | 12,480 | –\n– | 0 | +3 more');
  });

  test('has columns of numbers to the right, and wraps others', () => {
    const { column_settings: settings } = tableBlock(
      ['Page', 'Views', 'Mixed'],
      [
        ['/a', 1, 2],
        ['/b', 3, 'new'],
      ],
    );
    expect(settings).toEqual([{ is_wrapped: true }, { align: 'right' }, { is_wrapped: true }]);
    expect(mistakesIn([tableBlock(['Page'], [])], 'message')).toEqual([]);
  });

  test('shows what others wrote as it is: it notifies nobody, and Slack takes it', () => {
    const text = hostileText.map((all) => Array.from(all).slice(0, 300).join(''));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.nat()), { maxLength: 5 }), (rows) => {
        const table = tableBlock(['Page', 'Views'], rows);
        expect(mistakesIn([table], 'message')).toEqual([]);
        expect(notifiedBy('', [table as unknown as Block])).toEqual([]);
      }),
    );
  });

  test('with more rows or columns than Slack takes is our own mistake, and throws', () => {
    const rows = (count: number) => Array.from({ length: count }, () => ['x']);
    expect(tableBlock(['x'], rows(99)).rows).toHaveLength(100);
    expect(() => tableBlock(['x'], rows(100))).toThrow(RangeError);
    const wide = Array.from({ length: 21 }, () => 'x');
    expect(() => tableBlock(wide, [])).toThrow(RangeError);
    expect(() => tableBlock(['x'], [wide])).toThrow(RangeError);
  });
});

describe('a chart', () => {
  const parts = {
    title: 'Views per day',
    series: [
      { name: 'People', values: [10, 20] },
      { name: 'AI', values: [0, 5.5] },
    ],
    labels: ['Mon 14', 'Tue 15'],
    xTitle: 'Day (UTC)',
    yTitle: 'Views',
  };

  test('has one point of each series for each label', () => {
    const chart = chartBlock(parts);
    expect(mistakesIn([chart], 'message')).toEqual([]);
    expect(reads(chart)).toBe('Views per day\nPeople: Mon 14 10, Tue 15 20\nAI: Mon 14 0, Tue 15 5.5');
    expect(chart.chart).toMatchObject({
      type: 'bar',
      axis_config: { categories: parts.labels, x_label: 'Day (UTC)', y_label: 'Views' },
    });
  });

  test.each([
    ['a long title', { title: 'x'.repeat(51) }],
    ['a long axis title', { yTitle: 'x'.repeat(51) }],
    ['a long label', { labels: ['x'.repeat(21), 'y'] }],
  ])('with %s is our own mistake, and throws', (_, change) => {
    expect(() => chartBlock({ ...parts, ...change })).toThrow(RangeError);
  });
});
