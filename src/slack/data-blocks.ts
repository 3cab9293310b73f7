import type { TableBlock } from '@slack/types';
import type { ChartBlock } from '../store/messages.ts';
import { checkLimit } from './limits.ts';
import { formatCount, singleLine } from './text.ts';

/** Slack refuses a cell without a text. */
const EMPTY_CELL = '–';

/**
 * Returns a table. Cells are plain text of one line, numbers with separators; columns with only numbers are
 * right-aligned. Other people's text is harmless in it; cut it first.
 */
export function tableBlock(header: string[], rows: (string | number)[][]): TableBlock {
  const cell = (value: string | number) => ({
    type: 'raw_text' as const,
    text: (typeof value === 'number' ? formatCount(value) : singleLine(value)) || EMPTY_CELL,
  });
  const isNumeric = (column: number) =>
    rows.length > 0 && rows.every((row) => typeof row[column] === 'number');
  return {
    type: 'table',
    column_settings: checkLimit('tableColumns', header).map((_, column) =>
      isNumeric(column) ? { align: 'right' } : { is_wrapped: true },
    ),
    rows: checkLimit('tableRows', [header, ...rows]).map((row) => checkLimit('tableColumns', row).map(cell)),
  };
}

export interface ChartParts {
  title: string;
  /** The default is `bar`. */
  kind?: 'bar' | 'line';
  series: { name: string; values: number[] }[];
  /** One for each value, all different. */
  labels: string[];
  xTitle?: string;
  yTitle?: string;
}

/** Returns a chart. Some workspaces refuse it: a message with one needs a fallback. */
export function chartBlock(parts: ChartParts): ChartBlock {
  const { title, kind = 'bar', series, labels, xTitle, yTitle } = parts;
  const categories = checkLimit('chartPoints', labels).map((label) => checkLimit('chartLabel', label));
  const names = series.map(({ name }) => checkLimit('chartLabel', name));
  for (const all of [categories, names]) {
    if (all.length === 0 || new Set(all).size < all.length)
      throw new RangeError('chart: needs points and series, each with a name of its own');
  }
  const points = (values: number[]) => {
    if (values.length !== categories.length || !values.every(Number.isFinite))
      throw new RangeError(`chart: ${categories.length} labels need as many numbers`);
    return categories.map((label, index) => ({ label, value: values[index] ?? 0 }));
  };
  return {
    type: 'data_visualization',
    title: checkLimit('chartTitle', title),
    chart: {
      type: kind,
      series: checkLimit('chartSeries', series).map(({ name, values }) => ({
        name,
        data: points(values),
      })),
      axis_config: {
        categories,
        ...(xTitle !== undefined && { x_label: checkLimit('chartAxisTitle', xTitle) }),
        ...(yTitle !== undefined && { y_label: checkLimit('chartAxisTitle', yTitle) }),
      },
    },
  };
}
