import { LATE_MS } from '../schedule-times.ts';
import type { EditionRun } from './record.ts';

/** Returns that a weekly digest is late where it is posted now, whatever held it up. */
export const lateNow = ({ kind, dueAtMs }: EditionRun, nowMs: number): Pick<EditionRun, 'late'> =>
  kind === 'weekly' && nowMs - dueAtMs > LATE_MS ? { late: true } : {};

/**
 * Returns a digest that ended for a failure as it goes on from there; nothing when it is posted, or on its way. What was
 * posted of it stays, and is edited. What Slack refused is posted as another message, since a refusal is for good.
 */
export function restart(run: EditionRun, nowMs: number): EditionRun | undefined {
  const { ended, ...rest } = run;
  if (ended === undefined || ended.why === 'done') return undefined;
  return {
    ...rest,
    state: run.totals === undefined ? 'collecting' : 'posted',
    sinceMs: nowMs,
    ...(ended.why === 'place' && { attempt: (run.attempt ?? 1) + 1, ...lateNow(run, nowMs) }),
  };
}
