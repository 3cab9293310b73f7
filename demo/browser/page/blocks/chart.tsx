import type { ReactNode } from 'react';
import { type Node, nodeOf, nodesOf, stringOf } from './block.ts';
import { scaleOf, shortNumber } from './scale.ts';

const WIDTH = 560;
const HEIGHT = 220;
const LEFT = 44;
const RIGHT = 8;
const TOP = 10;
const BOTTOM = 24;
/** With more than so many, not every one has room for its name. */
const MOST_LABELS = 9;

interface Series {
  name: string;
  values: number[];
}

const color = (index: number) => `var(--chart-${(index % 6) + 1})`;

/** A `data_visualization`: as a picture, and as a table for who cannot see it or wants the numbers. */
export function Chart({ of }: { of: Node }): ReactNode {
  const chart = nodeOf(of.chart) ?? {};
  const { categories, series } = chart.type === 'pie' ? ofPie(chart) : ofAxes(chart);
  const axis = nodeOf(chart.axis_config);
  const title = String(of.title);
  const said = `${title}. ${series.map(({ name, values }) => `${name}: ${values.join(', ')}`).join('. ')}`;
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={said}>
        {chart.type === 'pie' ? (
          <Pie values={series[0]?.values ?? []} />
        ) : (
          <Axes kind={String(chart.type)} categories={categories} series={series} />
        )}
      </svg>
      <Legend names={chart.type === 'pie' ? categories : series.map(({ name }) => name)} />
      {axis && <AxisNames x={stringOf(axis.x_label)} y={stringOf(axis.y_label)} />}
      <Numbers categories={categories} series={series} />
    </figure>
  );
}

function ofAxes(chart: Node): { categories: string[]; series: Series[] } {
  const named = nodesOf(chart.series);
  const given = nodeOf(chart.axis_config)?.categories;
  const first = nodesOf(named[0]?.data).map(({ label }) => String(label));
  const categories = Array.isArray(given) ? given.map(String) : first;
  const series = named.map(({ name, data }) => {
    const byLabel = new Map(nodesOf(data).map(({ label, value }) => [String(label), Number(value)]));
    return { name: String(name), values: categories.map((label) => byLabel.get(label) ?? 0) };
  });
  return { categories, series };
}

function ofPie(chart: Node): { categories: string[]; series: Series[] } {
  const segments = nodesOf(chart.segments);
  return {
    categories: segments.map(({ label }) => String(label)),
    series: [{ name: 'Value', values: segments.map(({ value }) => Number(value)) }],
  };
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

function Axes({ kind, categories, series }: { kind: string; categories: string[]; series: Series[] }) {
  // Bars and areas lie on each other, lines each start at 0.
  const stacked = kind !== 'line';
  const heights = categories.map((_, at) => series.map(({ values }) => values[at] ?? 0));
  const { top, steps } = scaleOf(Math.max(...heights.map((row) => (stacked ? sum(row) : Math.max(...row)))));
  const slot = (WIDTH - LEFT - RIGHT) / Math.max(1, categories.length);
  const x = (at: number) => LEFT + slot * (at + 0.5);
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const below = (at: number, index: number) => (stacked ? sum((heights[at] ?? []).slice(0, index)) : 0);
  const every = Math.ceil(categories.length / MOST_LABELS);
  const width = Math.min(44, slot * 0.64);
  return (
    <>
      {steps.map((step) => (
        <g key={step}>
          <line
            x1={LEFT}
            x2={WIDTH - RIGHT}
            y1={y(step)}
            y2={y(step)}
            className={step === 0 ? 'base' : 'grid'}
          />
          <text x={LEFT - 8} y={y(step) + 4} textAnchor="end">
            {shortNumber(step)}
          </text>
        </g>
      ))}
      {categories.map(
        (label, at) =>
          at % every === 0 && (
            <text key={label} x={x(at)} y={HEIGHT - 6} textAnchor="middle">
              {label}
            </text>
          ),
      )}
      {series.map(({ name, values }, index) => {
        if (kind === 'bar')
          return (
            <g key={name} fill={color(index)}>
              {values.map((value, at) => {
                const from = below(at, index);
                return (
                  <rect
                    key={categories[at]}
                    x={x(at) - width / 2}
                    width={width}
                    y={y(from + value)}
                    height={Math.max(0, y(from) - y(from + value))}
                    rx={1.5}
                  >
                    <title>{`${categories[at]} · ${name}: ${value.toLocaleString('en')}`}</title>
                  </rect>
                );
              })}
            </g>
          );
        const upper = values.map((value, at) => `${x(at)},${y(below(at, index) + value)}`);
        if (kind === 'area') {
          const lower = values.map((_, at) => `${x(at)},${y(below(at, index))}`).reverse();
          return (
            <polygon key={name} points={[...upper, ...lower].join(' ')} fill={color(index)} opacity={0.75} />
          );
        }
        return (
          <g key={name} stroke={color(index)} fill={color(index)}>
            <polyline points={upper.join(' ')} fill="none" strokeWidth={2} strokeLinejoin="round" />
            {values.map((value, at) => (
              <circle key={categories[at]} cx={x(at)} cy={y(value)} r={2.5}>
                <title>{`${categories[at]} · ${name}: ${value.toLocaleString('en')}`}</title>
              </circle>
            ))}
          </g>
        );
      })}
    </>
  );
}

function Pie({ values }: { values: number[] }): ReactNode {
  const total = sum(values);
  const radius = HEIGHT / 2 - 12;
  const point = (share: number) => {
    const angle = share * 2 * Math.PI - Math.PI / 2;
    return `${WIDTH / 2 + radius * Math.cos(angle)} ${HEIGHT / 2 + radius * Math.sin(angle)}`;
  };
  return values.map((value, index) => {
    const from = sum(values.slice(0, index)) / total;
    // A full circle begins where it ends, and would not be drawn.
    const to = Math.min((sum(values.slice(0, index)) + value) / total, from + 0.9999);
    const large = to - from > 0.5 ? 1 : 0;
    const path = `M ${WIDTH / 2} ${HEIGHT / 2} L ${point(from)} A ${radius} ${radius} 0 ${large} 1 ${point(to)} Z`;
    return <path key={path} d={path} fill={color(index)} />;
  });
}

function Legend({ names }: { names: string[] }): ReactNode {
  return (
    <ul className="legend" aria-hidden="true">
      {names.map((name, index) => (
        <li key={name}>
          <i style={{ background: color(index) }} />
          {name}
        </li>
      ))}
    </ul>
  );
}

function AxisNames({ x, y }: { x: string | undefined; y: string | undefined }): ReactNode {
  const names = [y, x].filter((name) => name !== undefined);
  return names.length > 0 && <p className="axis-names">{names.join(' by ')}</p>;
}

function Numbers({ categories, series }: { categories: string[]; series: Series[] }): ReactNode {
  return (
    <details>
      <summary>As a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span className="unseen">Name</span>
            </th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="right">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {categories.map((label, at) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {series.map(({ name, values }) => (
                <td key={name} className="right">
                  {values[at]?.toLocaleString('en')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
