import type { Log } from '../../../runtime/log.ts';

/** Look-ups may fail this long before an operator has to act. */
const PROBLEM_MS = 3_600_000;
/** A schedule that this process has not stepped for so long now belongs to another process. */
const CONFIRMED_MS = 15 * 60_000;

/** Keeps the schedules whose owner Slack could not look up. Each process knows of those that it steps. */
export function createOwnerLookups({ now, log }: { now: () => number; log: Pick<Log, 'warn' | 'info'> }) {
  const failing = new Map<string, { sinceMs: number; seenMs: number }>();
  let isLogged = false;

  /** Returns the problem for an operator, while it lasts. */
  function problem(): string | undefined {
    const nowMs = now();
    for (const [id, { seenMs }] of failing) if (nowMs - seenMs >= CONFIRMED_MS) failing.delete(id);
    const lasting = [...failing.values()].filter(({ sinceMs }) => nowMs - sinceMs >= PROBLEM_MS);
    if (lasting.length === 0) return undefined;
    const what =
      lasting.length === 1
        ? 'the owner of 1 weekly digest'
        : `the owners of ${lasting.length} weekly digests`;
    const since = new Date(Math.min(...lasting.map(({ sinceMs }) => sinceMs))).toISOString();
    return (
      `Since ${since} Slack has not said whether ${what} may have digests; ` +
      'due digests are skipped after 48 hours. The log says why ("a person could not be looked up"): ' +
      'if the app lacks a scope, replace its manifest and reinstall it.'
    );
  }

  return {
    /** Records since when an owner cannot be looked up; undefined if the look-up works. */
    record(runId: string, sinceMs: number | undefined) {
      if (sinceMs === undefined) failing.delete(runId);
      else failing.set(runId, { sinceMs, seenMs: now() });
      const text = problem();
      if (text !== undefined && !isLogged) log.warn(text);
      if (text === undefined && isLogged) log.info('Slack answers again who may set up digests');
      isLogged = text !== undefined;
    },
    problem,
  };
}
