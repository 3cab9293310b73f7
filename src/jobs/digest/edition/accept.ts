import type { FiguresRun } from '../figures/record.ts';
import type { PlannedEdition } from './new-edition.ts';
import type { EditionRun } from './record.ts';
import { askAgain, restart } from './transitions.ts';

/** How a job or a request reads and writes runs. */
export interface EditionWrites {
  load(id: string): Promise<EditionRun | undefined>;
  collect(figures: readonly FiguresRun[]): Promise<void>;
  start(edition: EditionRun): Promise<{ kind: string }>;
  resume(edition: EditionRun): Promise<{ kind: string }>;
}

/** The result of a request for a digest. */
export interface WantedEdition {
  kind: 'there' | 'onItsWay';
  edition: EditionRun;
}

/**
 * Accepts the digest of a week. Its id follows from team, channel, project and week, so a second request finds the
 * first one, which resumes after a failure. Returns `stale` if another request has just resumed it.
 */
export async function acceptWeekly(
  { edition, figures }: PlannedEdition,
  { load, collect, start, resume }: EditionWrites,
  nowMs: number,
): Promise<WantedEdition | 'stale'> {
  const known = await load(edition.id);
  const again = known && (restart(known, edition, nowMs) ?? askAgain(known, nowMs));
  if (known !== undefined && again === undefined)
    return { kind: known.ended === undefined ? 'onItsWay' : 'there', edition: known };
  // Figures are accepted before the digest that names them.
  await collect(figures);
  const { kind } = await (again === undefined ? start(edition) : resume(again));
  return kind === 'stale' ? 'stale' : { kind: 'onItsWay', edition: again ?? edition };
}
