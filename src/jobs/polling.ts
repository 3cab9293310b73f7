import { DocsApiError } from '../docs-api/errors.ts';
import type { Timing } from '../runtime/timing.ts';
import type { RateLimit } from '../store/rate-limit.ts';
import type { JobContext } from './context.ts';
import type { Snapshot, Trouble } from './poll-record.ts';
import { troubleAfter } from './retry.ts';

/** From this fraction on, a job is polled no less often than this. */
const NEAR_END_FRACTION = 0.97;
const NEAR_END_MAX_MS = 5_000;

/** The end is near from so long before it is expected until so long after. */
const END_WINDOW_MS = 10_000;

/**
 * Returns when to poll a job next, in milliseconds from now.
 *
 * With a rate to go by, that is after half of the time that the job still seems to need, so that polls get denser
 * toward the end: few of them, and the end is seen soon. A job that is overdue is polled ever less often, and so is one
 * without any progress to go by. `jitter` is 0 to 1 and spreads runs that began together.
 */
export function nextPollMs(
  snapshots: readonly Snapshot[],
  startedAtMs: number,
  nowMs: number,
  { pollMinMs, pollMaxMs }: Pick<Timing, 'pollMinMs' | 'pollMaxMs'>,
  jitter: number,
): number {
  const endMs = expectedEndMs(snapshots);
  const pauseMs = endMs === undefined ? (nowMs - startedAtMs) / 8 : Math.abs(endMs - nowMs) / 2;
  // Shown in whole percents, the last steps of a long job say little of its end.
  const nearEnd = (snapshots.at(-1)?.fraction ?? 0) >= NEAR_END_FRACTION;
  const maxMs = nearEnd ? Math.min(NEAR_END_MAX_MS, pollMaxMs) : pollMaxMs;
  const spread = 0.9 + jitter * 0.2;
  return Math.round(Math.max(Math.min(pauseMs * spread, maxMs), pollMinMs));
}

/** Whether the end is expected about now: somebody waits for it, so a poll is worth more than at another time. */
export function isNearEnd(snapshots: readonly Snapshot[], nowMs: number): boolean {
  const endMs = expectedEndMs(snapshots);
  return endMs !== undefined && Math.abs(endMs - nowMs) <= END_WINDOW_MS;
}

/** Returns when the job would end at the rate seen between the polls; nothing while none was seen. */
function expectedEndMs(snapshots: readonly Snapshot[]): number | undefined {
  const measured = snapshots.flatMap(({ atMs, fraction }) =>
    fraction === undefined ? [] : [{ atMs, fraction }],
  );
  const first = measured.at(0);
  const last = measured.at(-1);
  if (first === undefined || last === undefined || last.fraction <= first.fraction) return undefined;
  // Progress comes in steps: what the last poll found was reached when it was first seen.
  const reachedAtMs = measured.find(({ fraction }) => fraction === last.fraction)?.atMs ?? last.atMs;
  const perMs = (last.fraction - first.fraction) / (reachedAtMs - first.atMs);
  return reachedAtMs + (1 - last.fraction) / perMs;
}

/**
 * Returns how long until the planned poll of a run: 0 when its time is past, or further ahead than any plan, since it
 * was made before the clock was set back. How long trouble lasts, the platform may say.
 */
export function pollInMs(
  { nextLookAtMs, trouble }: { nextLookAtMs: number; trouble?: unknown },
  nowMs: number,
  { pollMaxMs }: Pick<Timing, 'pollMaxMs'>,
): number {
  const inMs = nextLookAtMs - nowMs;
  return trouble === undefined && inMs > pollMaxMs ? 0 : Math.max(0, inMs);
}

/** Returns the rate limit of the polls of one kind with one API key, which `keyId` names without giving it away. */
export const pollRateLimit = (
  kind: 'export-status' | 'agent-status',
  keyId: string,
  perSecond: number,
): RateLimit => ({
  name: `${kind}:${keyId}`,
  count: perSecond * 60,
  windowMs: 60_000,
  // What a worker's late wake-up left unused is made up for.
  burst: 2,
});

/**
 * Returns the trouble that a failed poll makes, and whether admins were alerted of a rejected key; nothing for a poll
 * that was only broken off. Throws what is no error of the platform.
 */
export async function troubleOfPoll(
  run: { id: string; teamId: string; project: string; trouble?: Trouble | undefined },
  error: unknown,
  rateLimit: RateLimit,
  context: JobContext,
): Promise<{ trouble: Trouble; adminsTold?: boolean } | undefined> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return undefined;
  const trouble = troubleAfter(run.trouble, error, context);
  // A limit is that of the key: it is no failure of other jobs, which wait for a slot meanwhile.
  if (trouble.kind === 'limit') await context.rateLimiter.hold(rateLimit, trouble.nextMs - context.now());
  if (trouble.kind !== 'key') return { trouble };
  context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
  return { trouble, adminsTold: await context.alertAdmins(run.teamId, run.project) };
}
