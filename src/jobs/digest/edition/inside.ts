import type { JobContext } from '../../engine/context.ts';
import { totalOf } from '../model.ts';
import { unitOf, weeksIn } from '../weeks.ts';
import { type EditionRun, editionRun, scheduledId } from './record.ts';

const MAX_CHANGES = 3;

const sizeOf = ({ page, by }: NonNullable<EditionRun['inside']>[number]) =>
  Math.abs(page[by] - page.before[by]);

/** Returns the largest changes in the weekly digests whose whole weeks lie in a digest's month, and how many of them list pages. */
export async function loadInside(
  run: EditionRun,
  { store: { runs } }: Pick<JobContext, 'store'>,
): Promise<Pick<EditionRun, 'inside' | 'insideWeeks'>> {
  if (run.kind === 'asked' || run.week === undefined || unitOf(run.week) === 'week') return {};
  const ids = weeksIn(run.range).map(({ name }) => scheduledId(run, name));
  const weeks = (await runs.loadAll(ids, editionRun)).filter(({ pages }) => pages !== undefined);
  const changes = weeks.flatMap(({ range, totals, pages }) =>
    pages?.biggest && totals && totalOf(totals) > 0 ? [{ ...pages.biggest, range }] : [],
  );
  const inside = changes.toSorted((one, other) => sizeOf(other) - sizeOf(one)).slice(0, MAX_CHANGES);
  return { inside, insideWeeks: weeks.length };
}
