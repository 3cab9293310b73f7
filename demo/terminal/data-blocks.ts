import type { Block } from '../slack/workspace.ts';

interface Series {
  name: string;
  data: { label: string; value: number }[];
}
type Chart = Block & { title: string; chart: { series: Series[] } };
type Table = Block & { rows: { text: string }[][]; column_settings?: { align?: string }[] };

const MARKS = '█░▒▓';
/** The longest series of a row keeps so many characters, however narrow the terminal is. */
const NARROWEST_BAR = 4;
const NARROWEST_CELL = 12;
const GAP = 2;

/** Returns a chart or a table as lines of so many characters at most; nothing for any other block. */
export function dataLines(block: Block, room: number): string[] | undefined {
  if (block.type === 'data_visualization') return chartLines(block as Chart, room);
  if (block.type === 'table') return tableLines(block as Table, room);
  return undefined;
}

/** One bar for each point, with its series side by side, and the number of each. */
function chartLines({ title, chart: { series } }: Chart, room: number): string[] {
  const rows = (series[0]?.data ?? []).map(({ label }, index) => {
    const values = series.map(({ data }) => data[index]?.value ?? 0);
    return { label, values, numbers: values.map((value) => value.toLocaleString('en')).join(' + ') };
  });
  const labelWidth = widest(rows.map(({ label }) => label));
  const numbersWidth = widest(rows.map(({ numbers }) => numbers));
  // What has any views has a mark, for which there is room beside the bars.
  const longest = Math.max(NARROWEST_BAR, room - labelWidth - numbersWidth - GAP - series.length);
  const most = Math.max(1, ...rows.map(({ values }) => sum(values)));
  const cells = (value: number) => (value > 0 ? Math.max(1, Math.round((value / most) * longest)) : 0);
  const bars = rows.map(({ label, values, numbers }) => {
    const bar = values.map((value, at) => mark(at).repeat(cells(value))).join('');
    return `${label.padEnd(labelWidth)} ${bar} ${numbers}`;
  });
  return [`${title} (${series.map(({ name }, at) => `${mark(at)} ${name}`).join(', ')})`, ...bars];
}

const mark = (index: number) => MARKS[index % MARKS.length] ?? '';

/** Columns under each other; the first is cut where all of them have no room. */
function tableLines({ rows, column_settings: settings = [] }: Table, room: number): string[] {
  const texts = rows.map((row) => row.map(({ text }) => text));
  const widths = (texts[0] ?? []).map((_, column) => widest(texts.map((row) => row[column] ?? '')));
  const [first = 0, ...others] = widths;
  const left = room - sum(others) - GAP * others.length;
  const all = [Math.min(first, Math.max(NARROWEST_CELL, left)), ...others];
  return texts.map((row) =>
    all
      .map((width, column) => {
        const text = row[column] ?? '';
        if (settings[column]?.align === 'right') return text.padStart(width);
        return (text.length > width ? `${text.slice(0, width - 1)}…` : text).padEnd(width);
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
