import { cut, formatCount, singleLine } from '../../slack/text.ts';
import type { ChartPoint } from './weeks.ts';

/** One to twenty points, in the order of their days. */
export interface ChartParts {
  title: string;
  points: ChartPoint[];
}

/** The words of a chart; the block and the picture use the same ones. */
export const CHART_WORDS = { human: 'People', ai: 'AI', x: 'Date (UTC)', y: 'Views' } as const;

/** Limits of Slack's chart block: block-kit/blocks/data-visualization-block. */
const MAX_TITLE = 50;
const MAX_LABEL = 20;

/** Returns the chart block's content. Slack refuses labels that are empty, longer than 20, or not unique. */
export function chartView({ title, points }: ChartParts) {
  return {
    title: short(title, MAX_TITLE) || CHART_WORDS.y,
    labels: uniqueLabels(points.map(({ label }) => label)),
    series: [
      { name: CHART_WORDS.human, values: points.map(({ human }) => human) },
      { name: CHART_WORDS.ai, values: points.map(({ ai }) => ai) },
    ],
    xTitle: CHART_WORDS.x,
    yTitle: CHART_WORDS.y,
  };
}

/** Returns the chart's numbers as a sentence, for notifications and screen readers. */
export function chartText(points: ChartPoint[]): string {
  const numbers = (name: string, values: number[]) => `${name} ${values.map(formatCount).join(', ')}`;
  const labels = uniqueLabels(points.map(({ label }) => label));
  const [first, last] = [labels[0], labels.at(-1)];
  const when = points.length > 1 ? `${first} to ${last}` : first;
  return `${when}: ${numbers(
    CHART_WORDS.human,
    points.map(({ human }) => human),
  )}; ${numbers(
    CHART_WORDS.ai,
    points.map(({ ai }) => ai),
  )}.`;
}

function uniqueLabels(labels: string[]): string[] {
  const taken = new Set<string>();
  return labels.map((label, index) => {
    let name = short(label, MAX_LABEL) || `${index + 1}`;
    for (let copy = 2; taken.has(name); copy += 1) {
      const mark = ` (${copy})`;
      name = `${short(label, MAX_LABEL - mark.length)}${mark}`;
    }
    taken.add(name);
    return name;
  });
}

/** Returns at most `max` UTF-16 code units, as Slack counts them. */
function short(text: string, max: number): string {
  const line = singleLine(text.slice(0, 20 * max).toWellFormed());
  let kept = cut(line, max);
  for (let points = max - 1; kept.length > max; points -= 1) kept = cut(line, points);
  return kept;
}
