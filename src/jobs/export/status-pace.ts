import type { PaceStore } from '../../store/pace.ts';
import { isNearEnd } from './polling.ts';
import type { ExportRun } from './run.ts';

/** Looks that are let through at once; what a worker's late wake-up left unused is made up for. */
const BURST = 2;

/**
 * Takes the run's turn to look at the platform and answers 0, or answers in how many milliseconds to ask again. All
 * processes share `perSecond` looks of an API key, which `key` names without giving it away. Runs near their end and
 * looks that a person waits for go first; among equals, whoever is due since the longest time.
 */
export function takeLook(
  { id, looks, lookWanted, nextLookAtMs }: ExportRun,
  { key, perSecond }: { key: string; perSecond: number },
  pace: PaceStore,
  nowMs: number,
): Promise<number> {
  const bucket = `export-status:${key}`;
  const rank = lookWanted || isNearEnd(looks, nowMs) ? 0 : 1;
  return pace.take(
    { bucket, perMinute: perSecond * 60, burst: BURST },
    { of: id, rank, sinceMs: nextLookAtMs },
  );
}
