import { cut, formatCount, singleLine } from '../../slack/text.ts';
import type { ChartPoint } from './weeks.ts';

/** One to 14 points, in the order of their days. Their labels are unique and have at most 20 characters. */
export interface ChartParts {
  title: string;
  points: ChartPoint[];
}

/** The words of a chart; the block and the picture use the same ones. */
const CHART_WORDS = { human: 'People', ai: 'AI', x: 'Date (UTC)', y: 'Views' } as const;

/** Returns the content of Slack's chart block. */
export const chartView = ({ title, points }: ChartParts) => ({
  title,
  labels: points.map(({ label }) => label),
  series: [
    { name: CHART_WORDS.human, values: points.map(({ human }) => human) },
    { name: CHART_WORDS.ai, values: points.map(({ ai }) => ai) },
  ],
  xTitle: CHART_WORDS.x,
  yTitle: CHART_WORDS.y,
});

/** Returns the chart's numbers as a sentence, for notifications and screen readers. */
export function chartText(points: ChartPoint[]): string {
  const [first, last] = [points[0]?.label, points.at(-1)?.label];
  const when = points.length > 1 ? `${first} to ${last}` : first;
  const numbers = (by: 'human' | 'ai') =>
    `${CHART_WORDS[by]} ${points.map((point) => formatCount(point[by])).join(', ')}`;
  return `${when}: ${numbers('human')}; ${numbers('ai')}.`;
}

/**
 * The picture has its own background, so it looks the same in a light and a dark Slack. Blue and vermilion (Okabe and
 * Ito) are distinct for colour-blind people; AI is hatched as well.
 */
export const CHART_COLOURS = {
  background: '#f7f8fa',
  frame: '#d5d9e0',
  grid: '#dde1e7',
  axis: '#7b8493',
  ink: '#1f2430',
  quiet: '#525b6a',
  human: '#0072b2',
  ai: '#d55e00',
} as const;

/** In SVG pixels. Slack shows pictures about 500 wide, so text of 15 is still readable. */
const CHART_SIZE = { width: 640, height: 360 } as const;
const EDGE = 20;
const LEGEND_LINE = 76;
const PLOT_TOP = 104;
const X_TITLE_HEIGHT = 26;
const LABEL_SIZE = 15;
const LABEL_LINE = 18;
const VALUE_SIZE = 13;
const WIDEST_BAR = 46;

/** The position of the plot in SVG pixels, and the number at the top of its axis. */
interface Plot {
  left: number;
  right: number;
  top: number;
  bottom: number;
  max: number;
}

interface Bar {
  x: number;
  y: number;
  width: number;
  height: number;
  value: number;
}

/** A chart as an SVG, and the positions of its columns. */
interface ChartSvg {
  svg: string;
  plot: Plot;
  bars: { human: Bar; ai: Bar }[];
}

/** Returns columns of people's and AI's views, side by side for each point. */
export function chartSvg({ title, points }: ChartParts): ChartSvg {
  const { width, height } = CHART_SIZE;
  const step = axisStep(Math.max(...points.map(({ human, ai }) => Math.max(human, ai))));
  const max =
    step * Math.max(1, Math.ceil(Math.max(...points.flatMap(({ human, ai }) => [human, ai])) / step));
  const ticks = Array.from({ length: Math.round(max / step) + 1 }, (_, index) => index * step);
  const left = snap(EDGE + Math.max(...ticks.map((tick) => widthOf(tickText(tick, max), LABEL_SIZE))) + 8);
  const right = width - EDGE;
  const labels = axisLabels(points, left, right);
  const labelLines = Math.max(...labels.map(({ lines }) => lines.length));
  const bottom = height - EDGE - X_TITLE_HEIGHT - labelLines * LABEL_LINE;
  const plot = { left, right, top: PLOT_TOP, bottom, max };
  const bars = barsOf(points, plot);
  return {
    plot,
    bars,
    svg: [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="Inter" fill="${CHART_COLOURS.ink}">`,
      `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2.5" height="6" fill="${CHART_COLOURS.background}"/></pattern></defs>`,
      `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${CHART_COLOURS.background}" stroke="${CHART_COLOURS.frame}"/>`,
      text(fitted(title, 20, width - 2 * EDGE), EDGE, 38, { size: 20, bold: true }),
      ...legend(),
      text(CHART_WORDS.y, EDGE, LEGEND_LINE, { size: LABEL_SIZE, colour: CHART_COLOURS.quiet }),
      ...ticks.flatMap((tick) => tickLines(tick, plot)),
      ...bars.flatMap(({ human, ai }) => [
        solid(human, CHART_COLOURS.human),
        solid(ai, CHART_COLOURS.ai),
        hatch(ai),
      ]),
      ...valuesOf(bars),
      line(left, right, bottom, CHART_COLOURS.axis),
      ...labels.flatMap(({ x, lines }) =>
        lines.map((one, row) =>
          text(one, x, bottom + 20 + row * LABEL_LINE, { size: LABEL_SIZE, anchor: 'middle' }),
        ),
      ),
      text(CHART_WORDS.x, (left + right) / 2, height - EDGE + 4, {
        size: LABEL_SIZE,
        anchor: 'middle',
        colour: CHART_COLOURS.quiet,
      }),
      '</svg>',
    ].join('\n'),
  };
}

/** Returns the distance of at most five round numbers from 0 to a value: 1, 2, 2.5 or 5 times a power of ten. */
function axisStep(value: number): number {
  const least = Math.max(1, value / 5);
  const power = 10 ** Math.floor(Math.log10(least));
  const factors = power === 1 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  return power * (factors.find((factor) => factor * power >= least) ?? 10);
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });
const tickText = (tick: number, max: number) => (max < 10_000 ? formatCount(tick) : compact.format(tick));

function tickLines(tick: number, plot: Plot): string[] {
  const y = heightAt(tick, plot);
  return [
    line(plot.left, plot.right, y, CHART_COLOURS.grid),
    text(tickText(tick, plot.max), plot.left - 8, y + 5, { size: LABEL_SIZE, anchor: 'end' }),
  ];
}

/** The picture is drawn at twice this size, so half a pixel here is a whole one there. */
const snap = (pixels: number) => Math.round(pixels * 2) / 2;

const heightAt = (value: number, { top, bottom, max }: Plot) => snap(bottom - (value / max) * (bottom - top));

function barsOf(points: ChartPoint[], plot: Plot): ChartSvg['bars'] {
  const slot = (plot.right - plot.left) / points.length;
  const width = Math.min(WIDEST_BAR, snap(slot * 0.38));
  const bar = (value: number, x: number): Bar => {
    // Any value above zero stays visible.
    const y = Math.min(heightAt(value, plot), plot.bottom - (value > 0 ? 1 : 0));
    return { x, y, width, height: plot.bottom - y, value };
  };
  return points.map(({ human, ai }, index) => {
    const middle = snap(plot.left + (index + 0.5) * slot);
    return { human: bar(human, middle - width - 0.5), ai: bar(ai, middle + 0.5) };
  });
}

const rect = ({ x, y, width, height }: Omit<Bar, 'value'>, fill: string) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`;

const solid = (bar: Bar, colour: string) => (bar.height > 0 ? rect(bar, colour) : '');

/** The edge stays solid, so that the column ends at its number. */
function hatch({ x, y, width, height }: Omit<Bar, 'value'>): string {
  if (height <= 4) return '';
  return rect({ x: x + 2, y: y + 2, width: width - 4, height: height - 4 }, 'url(#hatch)');
}

/** The names of both series, at the right edge. */
function legend(): string[] {
  const swatch = { y: LEGEND_LINE - 13, width: 15, height: 15 };
  const second = CHART_SIZE.width - EDGE - 22 - widthOf(CHART_WORDS.ai, LABEL_SIZE);
  const first = second - 40 - widthOf(CHART_WORDS.human, LABEL_SIZE);
  return [
    rect({ ...swatch, x: first }, CHART_COLOURS.human),
    text(CHART_WORDS.human, first + 22, LEGEND_LINE, { size: LABEL_SIZE }),
    rect({ ...swatch, x: second }, CHART_COLOURS.ai),
    hatch({ ...swatch, x: second }),
    text(CHART_WORDS.ai, second + 22, LEGEND_LINE, { size: LABEL_SIZE }),
  ];
}

/** Returns the number above each column; none if two of them would touch. */
function valuesOf(bars: ChartSvg['bars']): string[] {
  const all = bars.flatMap(({ human, ai }) => [human, ai]);
  const shown = all.map((bar) => ({ bar, value: valueText(bar.value) }));
  if (shown.some(({ bar, value }) => widthOf(value, VALUE_SIZE) > bar.width)) return [];
  return shown.map(({ bar, value }) =>
    text(value, bar.x + bar.width / 2, bar.y - 5, { size: VALUE_SIZE, anchor: 'middle' }),
  );
}

const rounded = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 2 });
const valueText = (value: number) => (value < 1000 ? formatCount(value) : rounded.format(value));

interface AxisLabel {
  x: number;
  lines: string[];
}

/**
 * Returns the labels that fit, in one or two lines, all broken alike: of every point, or of every second, third or
 * fourth. A label that still does not fit is cut.
 */
function axisLabels(points: ChartPoint[], left: number, right: number): AxisLabel[] {
  const slot = (right - left) / points.length;
  const places = points.map(({ label }, index) => ({ name: clean(label), x: left + (index + 0.5) * slot }));
  const roomOf = (x: number, every: number) =>
    Math.min(slot * every - 4, 2 * Math.min(x, CHART_SIZE.width - x) - 12);
  for (const every of [1, 2, 3, 4]) {
    const chosen = places.filter((_, index) => index % every === 0);
    for (const linesOf of [(name: string) => [name], halved]) {
      const shown = chosen.map(({ name, x }) => ({ x, lines: linesOf(name) }));
      if (shown.every(({ x, lines }) => lines.every((one) => widthOf(one, LABEL_SIZE) <= roomOf(x, every))))
        return shown;
    }
  }
  return places
    .filter((_, index) => index % 4 === 0)
    .map(({ name, x }) => ({ x, lines: [fitted(name, LABEL_SIZE, roomOf(x, 4))] }));
}

/** Returns a label in two lines, as equal as its words allow. */
function halved(name: string): string[] {
  const words = name.split(' ');
  const breaks = words.slice(1).map((_, index) => {
    const lines = [words.slice(0, index + 1).join(' '), words.slice(index + 1).join(' ')];
    return { lines, width: Math.max(...lines.map((one) => widthOf(one, LABEL_SIZE))) };
  });
  return breaks.toSorted((one, other) => one.width - other.width)[0]?.lines ?? [name];
}

/** Returns an upper estimate of a text's width: 1 em for characters that may be wide. */
function widthOf(line: string, size: number): number {
  const ems = Array.from(line, (letter) => {
    if (/[\x20-\x7f–·]/.test(letter))
      return /[A-Z]/.test(letter) ? 0.72 : /[ .,:|'ijl·-]/.test(letter) ? 0.3 : 0.61;
    return 1;
  });
  return size * ems.reduce((sum, em) => sum + em, 0);
}

function fitted(line: string, size: number, room: number): string {
  const cleaned = clean(line);
  let kept = cleaned;
  for (let max = kept.length; widthOf(kept, size) > room && max > 1; max -= 1) kept = cut(cleaned, max);
  return kept;
}

/** Longer than any line of the picture, so that a long text costs no more. */
const LONGEST_LINE = 200;
const clean = (line: string) => singleLine(line.slice(0, LONGEST_LINE).toWellFormed());

function line(x1: number, x2: number, y: number, colour: string): string {
  return `<line x1="${x1}" y1="${y}" x2="${x2}" y2="${y}" stroke="${colour}"/>`;
}

function text(
  content: string,
  x: number,
  y: number,
  style: { size: number; bold?: boolean; anchor?: 'middle' | 'end'; colour?: string },
): string {
  const attributes = [
    `x="${x}" y="${y}" font-size="${style.size}"`,
    style.bold ? 'font-weight="600"' : '',
    style.anchor ? `text-anchor="${style.anchor}"` : '',
    style.colour ? `fill="${style.colour}"` : '',
  ];
  return `<text ${attributes.filter(Boolean).join(' ')}>${escapeXml(content)}</text>`;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escapeXml = (content: string) => content.replace(/[&<>"']/g, (one) => ENTITIES[one] ?? '');
