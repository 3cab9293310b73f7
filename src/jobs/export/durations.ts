import type { ExportJob } from '../../docs-api/schemas.ts';
import type { Duration } from '../../store/durations.ts';
import { idOf } from '../../store/ids.ts';
import type { JobContext } from '../context.ts';
import type { ExportRun } from './record.ts';

/** A start or an end that is known to no more than this part of the duration says enough of it. */
const MOST_UNSURE_PART = 0.4;

/** When an export was started and between which polls it ended; epoch milliseconds. */
interface SeenExport {
  startedAtMs: number;
  lastRunningMs: number;
  foundEndedMs: number;
  /** When its job was made and last changed, as the platform says. */
  createdAt?: number | undefined;
  updatedAt?: number | undefined;
}

/**
 * Returns how long an export took, in whole milliseconds, and nothing when its end was not seen well enough. What the
 * platform says counts where it lies within what was seen. Both of its times are of one clock, which may be wrong.
 */
export function seenDurationMs(seen: SeenExport): number | undefined {
  const { startedAtMs, lastRunningMs, foundEndedMs, createdAt, updatedAt } = seen;
  const leastMs = lastRunningMs - startedAtMs;
  const mostMs = foundEndedMs - startedAtMs;
  if (!(leastMs >= 0 && mostMs > leastMs)) return undefined;
  const saidMs = createdAt !== undefined && updatedAt !== undefined ? updatedAt - createdAt : Number.NaN;
  if (saidMs > leastMs && saidMs <= mostMs) return Math.round(saidMs);
  const middleMs = (leastMs + mostMs) / 2;
  return mostMs - leastMs <= MOST_UNSURE_PART * middleMs ? Math.round(middleMs) : undefined;
}

/**
 * Returns the name by which durations are kept: of one site, and of the same pages of it, since some pages take less time
 * than all. A version is only a label. Nothing for a job whose site is not known.
 */
export function durationsName({ teamId, project, domain, paths }: ExportRun): string | undefined {
  return domain === '' ? undefined : idOf(teamId, project, domain, ...(paths ?? []).toSorted());
}

/** Keeps how long a completed export took. Only one that was seen from its start counts; safe to repeat. */
export async function keepDuration(
  run: ExportRun,
  { createdAt, updatedAt }: ExportJob,
  foundEndedMs: number,
  { durations }: Pick<JobContext, 'durations'>,
): Promise<void> {
  const name = durationsName(run);
  const { startedAtMs, attemptAtMs, joined, answer, jobId } = run;
  const lastRunningMs = run.looks.at(-1)?.atMs;
  // One that was found later, by a person or by a late answer, began before its watch.
  const isFound = joined || answer?.action === 'late' || answer?.action === 'watchIt';
  if (name === undefined || jobId === undefined || isFound) return;
  if (startedAtMs === undefined || lastRunningMs === undefined) return;
  const tookMs = seenDurationMs({ startedAtMs, lastRunningMs, foundEndedMs, createdAt, updatedAt });
  // After a crash, the answer to the start may have been read long after it.
  if (tookMs === undefined || startedAtMs - attemptAtMs > MOST_UNSURE_PART * tookMs) return;
  const inPercent = run.inPercent === true;
  await durations.add(name, jobId, { endedAtMs: Math.round(foundEndedMs), tookMs, inPercent });
}

/** Returns how long earlier exports took of what this run exports; none when nobody knows when this one began. */
export async function earlierDurations(
  run: ExportRun,
  { durations }: Pick<JobContext, 'durations'>,
): Promise<Duration[]> {
  const name = durationsName(run);
  return name === undefined || run.startedAtMs === undefined ? [] : durations.of(name);
}
