import type { JobContext } from '../../context.ts';
import { type FiguresRun, figuresRun } from './record.ts';
import { collectAgain } from './transitions.ts';

/** Starts collecting missing figures, once for equal requests. A failed run resumes. */
export async function collectFigures(
  wanted: FiguresRun,
  { runs, wake, now }: Pick<JobContext, 'runs' | 'wake' | 'now'>,
): Promise<void> {
  const accepted = await runs.accept(wanted, Number.MAX_SAFE_INTEGER, 0, undefined);
  if (accepted.kind === 'accepted') return wake(wanted);
  const [known] = await runs.loadAll([wanted.id], figuresRun);
  const again = known && collectAgain(known, wanted, now());
  if (again === undefined) return;
  await runs.resume(again, Number.MAX_SAFE_INTEGER, 0);
  await wake(again);
}
