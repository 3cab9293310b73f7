import type { JobContext } from '../../context.ts';
import { totalOf } from '../model.ts';
import { daysOf, weekBefore } from '../weeks.ts';
import type { EditionRun } from './record.ts';

/** Weeks that are compared, with the one that a digest is about. */
const MAX_WEEKS = 8;

/** In fewer weeks nothing is the lowest of them. */
const MIN_WEEKS = 4;

/** Returns how the views of a week stand among those of the weeks before it, the latest first; `views` begins with its own. */
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

/** Returns the same of a weekly digest, from the days that are kept. */
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
