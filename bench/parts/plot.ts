import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quantile } from './figures.ts';

// Pictures of figures for docs/benchmarks.md: SVG that reads well on a light and on a dark page.

const [WIDTH, HEIGHT] = [640, 300];
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 120, 44, 40];
const STYLE = `<style>
  .page { fill: #ffffff } .grid { stroke: #d8dee4 } .bound { stroke: #cf222e; stroke-dasharray: 5 4 }
  text { font: 12px system-ui, sans-serif; fill: #1f2328 } .title { font-size: 14px; font-weight: 600 }
  .inside { fill: #ffffff } .line { fill: none; stroke-width: 2 } .s0 { stroke: #0969da } .s1 { stroke: #6e7781 } .f0 { fill: #0969da } .f1 { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .grid { stroke: #30363d } .bound { stroke: #ff7b72 } text { fill: #e6edf3 }
    .inside { fill: #0d1117 } .s0 { stroke: #58a6ff } .s1 { stroke: #8b949e } .f0 { fill: #58a6ff } .f1 { fill: #8b949e }
  }
</style>`;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function picture(title: string, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
${STYLE}
<rect class="page" width="${WIDTH}" height="${HEIGHT}" rx="6"/>
<text class="title" x="${LEFT}" y="26">${escaped(title)}</text>
${body}
</svg>
`;
}

const text = (x: number, y: number, what: string, more = '') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(what)}</text>`;

const spelled = (value: number) => (value >= 10 ? value.toFixed(0) : value.toFixed(1));

/** Percentiles that a curve shows; the last ones are what people notice. */
const PERCENTILES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/** Draws how long each share of the cases took at most, a line for each series, on a scale of powers of ten. */
export function curves(plot: {
  title: string;
  unit: string;
  series: Record<string, readonly number[]>;
}): string {
  const lines = Object.entries(plot.series).map(([name, numbers]) => ({
    name,
    points: PERCENTILES.map((q) => Math.max(0.1, quantile(numbers, q))),
  }));
  const all = lines.flatMap(({ points }) => points);
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
  const x = (index: number) => LEFT + (index / (PERCENTILES.length - 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) =>
    HEIGHT - BOTTOM - ((Math.log10(value) - low) / Math.max(1, high - low)) * (HEIGHT - TOP - BOTTOM);
  const grid = Array.from({ length: high - low + 1 }, (_, step) => {
    const value = 10 ** (low + step);
    const at = y(value);
    const label = text(LEFT - 8, at + 4, `${Number(value.toPrecision(1))} ${plot.unit}`, 'text-anchor="end"');
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/>${label}`;
  });
  const labels = PERCENTILES.map((q, index) =>
    text(x(index), HEIGHT - BOTTOM + 20, `${Number((q * 100).toFixed(1))} %`, 'text-anchor="middle"'),
  );
  const drawn = lines.map(({ name, points }, index) => {
    const path = points.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    const last = points.at(-1) ?? 1;
    const others = lines.filter((line) => line.name !== name).map((line) => y(line.points.at(-1) ?? 1));
    const above = others.every((other) => y(last) <= other);
    const at = y(last) + (above ? 0 : 14);
    return `<polyline class="line s${index}" points="${path}"/>${text(WIDTH - RIGHT + 8, at, name)}`;
  });
  return picture(plot.title, [...grid, ...labels, ...drawn].join('\n'));
}

/** Draws one bar for each value, and the bound. */
export function bars(plot: {
  title: string;
  unit: string;
  values: Record<string, number>;
  bound?: number;
}): string {
  const entries = Object.entries(plot.values);
  const most = Math.max(plot.bound ?? 0, ...entries.map(([, value]) => value)) * 1.1;
  const x = (value: number) => LEFT + 70 + (value / most) * (WIDTH - LEFT - 70 - RIGHT / 2);
  const height = (HEIGHT - TOP - BOTTOM) / entries.length;
  const drawn = entries.map(([name, value], index) => {
    const top = TOP + index * height;
    const label = text(LEFT + 62, top + height / 2 + 4, name, 'text-anchor="end"');
    // Inside where it fits, so that it does not run into the bound.
    const fits = x(value) - x(0) > 80;
    const [at, more] = fits ? [x(value) - 8, 'class="inside" text-anchor="end"'] : [x(value) + 6, ''];
    const figure = text(at, top + height / 2 + 4, `${spelled(value)} ${plot.unit}`, more);
    const bar = `<rect class="f0" x="${x(0)}" y="${top + 6}" width="${(x(value) - x(0)).toFixed(1)}" height="${height - 12}"/>`;
    return label + bar + figure;
  });
  const at = plot.bound === undefined ? 0 : x(plot.bound);
  const bound =
    plot.bound === undefined
      ? ''
      : `<line class="bound" x1="${at}" x2="${at}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>${text(at, HEIGHT - BOTTOM + 18, `${plot.bound} ${plot.unit}`, 'text-anchor="middle"')}`;
  return picture(plot.title, [...drawn, bound].join('\n'));
}

/** Keeps a picture where `npm run bench` wants it; without that, nowhere. */
export function savePlot(name: string, svg: string): void {
  const folder = process.env.BENCH_PLOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.svg`), svg);
}
