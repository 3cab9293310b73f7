import type { RestoreTools } from '../engine/restore.ts';
import { activate, type Schedule } from './record.ts';

/** Returns an active schedule whose due times before now are skipped, and whether one was; undefined for others. */
export function skipDue<S extends Schedule>(run: S, { nowMs }: Pick<RestoreTools, 'nowMs'>) {
  if (run.state !== 'active') return undefined;
  const { sinceMs, failures } = run;
  return { next: { ...activate(run, nowMs), sinceMs, failures }, skipped: run.nextAtMs <= nowMs ? 1 : 0 };
}
