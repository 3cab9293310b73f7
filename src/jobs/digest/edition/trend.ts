import type { JobContext } from '../../context.ts';
import { totalOf } from '../model.ts';
import { daysOf, weekBefore } from '../weeks.ts';
import type { EditionRun } from './record.ts';

/** Number of compared weeks, including the digest's own. */
const MAX_WEEKS = 8;

/** In fewer weeks a lowest one means nothing. */
const MIN_WEEKS = 4;

/** Returns how a week's views compare with those of earlier weeks; `views` begins with its own, latest first. */
export function trendOf(views: readonly number[]): EditionRun['trend'] {
  const [now = 0, ...before] = views;
  const [last] = before;
  if (last === undefined || now === last) return undefined;
  const way = now > last ? 'rise' : 'fall';
  const turn = views.findIndex((one, index) => {
    const earlier = views[index + 1];
    return earlier === undefined || (way === 'rise' ? one <= earlier : one >= earlier);
  });
  const isLowest = now < Math.min(...before);
  const isExtreme = views.length >= MIN_WEEKS && (isLowest || now > Math.max(...before));
  return {
    weeks: views.length,
    ...(isExtreme && { extreme: isLowest ? ('lowest' as const) : ('highest' as const) }),
    way,
    inARow: turn,
  };
}

/** Returns the same for a weekly digest, from the kept days. */
export async function loadTrend(run: EditionRun, { figures }: JobContext): Promise<EditionRun['trend']> {
  if (run.kind === 'asked' || run.week === undefined) return undefined;
  const views: number[] = [];
  for (let { range } = run; views.length < MAX_WEEKS; range = weekBefore(range)) {
    const days = daysOf(range);
    const kept = await figures.days(run, days);
    if (kept.size < days.length) break;
    views.push([...kept.values()].reduce((sum, one) => sum + totalOf(one), 0));
  }
  return trendOf(views);
}
