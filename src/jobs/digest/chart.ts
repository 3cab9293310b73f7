import { formatCount } from '../../slack/text.ts';
import type { ChartPoint } from './weeks.ts';

/** One to 14 points, in the order of their days. Their labels are unique and have at most 20 characters. */
export interface ChartParts {
  title: string;
  points: ChartPoint[];
}

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
