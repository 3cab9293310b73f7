import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import {
  type FiguresRun,
  figuresRun,
  type newFiguresRun,
} from '../../../../src/jobs/digest/figures/record.ts';
import { spansOf } from '../../../../src/jobs/digest/weeks.ts';
import type { DigestWorld } from './world.ts';

/** The week of `range` is over, and its numbers are final. */
export const MONDAY = Date.parse('2026-09-21T02:00:00Z');
export const range = { from: '2026-09-14', to: '2026-09-21' };

/** What is wanted of the figures of that week: all its pages, for nobody in particular. */
export const wanted = (changes: Partial<Parameters<typeof newFiguresRun>[0]> = {}) => ({
  teamId: 'T0ACME',
  project: 'acme',
  range,
  urgent: false,
  maxRequests: undefined,
  spans: spansOf(changes.range ?? range),
  pages: true,
  readers: false,
  ...changes,
});

/** Steps the run until it rests, and returns it as it is then. */
export async function collect(world: DigestWorld, run: FiguresRun, maxMs?: number): Promise<FiguresRun> {
  await world.accept(run);
  await world.drive(figuresJob, run.id, maxMs);
  const after = await world.context.runs.load(run.id, figuresRun);
  if (after === undefined) throw new Error('the record is gone');
  return after;
}
