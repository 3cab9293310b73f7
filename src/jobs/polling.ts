import { DocsApiError } from '../docs-api/errors.ts';
import type { Timing } from '../runtime/timing.ts';
import type { RateLimit } from '../store/rate-limit.ts';
import type { JobContext } from './context.ts';
import type { PollFailure, Snapshot } from './poll-record.ts';
import { nextFailure } from './retry.ts';

/** What a plan of the next poll is made from. Times are epoch milliseconds. */
export interface Watched {
  startedAtMs: number;
  snapshots?: readonly Snapshot[];
  /** How long the last job of the same kind took, in milliseconds. */
  lastDurationMs?: number | undefined;
}

/**
 * Returns when to poll a job next, in milliseconds from now: after a quarter of the time that is left by its progress,
 * or else by what the last one took. When neither says so, or that time has passed, after an eighth of the time that
 * has passed. `jitter` is 0 to 1 and spreads runs that began together.
 */
export function nextPollMs(
  { startedAtMs, snapshots = [], lastDurationMs }: Watched,
  nowMs: number,
  { pollMinMs, pollMaxMs }: Pick<Timing, 'pollMinMs' | 'pollMaxMs'>,
  jitter: number,
): number {
  const endMs = estimateEndMs(snapshots) ?? startedAtMs + (lastDurationMs ?? 0);
  const pauseMs = endMs > nowMs ? (endMs - nowMs) / 4 : (nowMs - startedAtMs) / 8;
  return Math.round(Math.max(Math.min(pauseMs * (0.9 + jitter * 0.2), pollMaxMs), pollMinMs));
}

/** Returns when the job would end at the rate between its first snapshot and its latest progress; nothing without a rate. */
function estimateEndMs(snapshots: readonly Snapshot[]): number | undefined {
  const known = snapshots.flatMap(({ atMs, fraction }) =>
    fraction === undefined ? [] : [{ atMs, fraction }],
  );
  const [first] = known;
  // A level that lasts was reached when it was first seen.
  const last = known.find(({ fraction }) => fraction === known.at(-1)?.fraction);
  if (first === undefined || last === undefined) return undefined;
  if (last.fraction <= first.fraction || last.atMs <= first.atMs) return undefined;
  const msPerWhole = (last.atMs - first.atMs) / (last.fraction - first.fraction);
  return last.atMs + (1 - last.fraction) * msPerWhole;
}

/**
 * Returns how long until the planned poll of a run: 0 when its time is past, or further ahead than any plan, since it
 * was made before the clock was set back. How long trouble lasts, the platform may say.
 */
export function pollInMs(
  { nextPollAtMs, trouble }: { nextPollAtMs: number; trouble?: unknown },
  nowMs: number,
  { pollMaxMs }: Pick<Timing, 'pollMaxMs'>,
): number {
  const inMs = nextPollAtMs - nowMs;
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
  // What late wake-ups left unused is made up for: of a hundred a second, some come within the same few milliseconds.
  burst: Math.max(2, Math.ceil(perSecond / 10)),
  interactiveShare: 0.2,
});

/**
 * Returns the trouble that a failed poll makes, and whether admins were alerted of it; nothing for a poll
 * that was only broken off. Throws what is no error of the platform.
 */
export async function failureOfPoll(
  run: { id: string; teamId: string; project: string; trouble?: PollFailure | undefined },
  error: unknown,
  rateLimit: RateLimit,
  context: JobContext,
): Promise<{ trouble: PollFailure; adminsTold?: boolean } | undefined> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return undefined;
  const trouble = nextFailure(run.trouble, error, context);
  // A limit is that of the key: it is no failure of other jobs, which wait for a slot meanwhile.
  if (trouble.kind === 'limit') await context.rateLimiter.hold(rateLimit, trouble.nextMs - context.now());
  if (trouble.kind !== 'key' && error.kind !== 'forbidden') return { trouble };
  if (trouble.kind === 'key')
    context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
  return { trouble, adminsTold: await context.alertAdmins(run.teamId, run.project, error) };
}

/**
 * Asks for a job that somebody named, before anything about it is public. Returns whether the platform knows it, or in
 * how many milliseconds it may be asked. A job counts as known unless the platform says otherwise.
 */
export async function lookUpJob(
  runId: string,
  rateLimit: RateLimit,
  get: () => Promise<unknown>,
  { rateLimiter, stopping }: JobContext,
): Promise<'known' | 'unknown' | number> {
  const slotInMs = await rateLimiter.takeSlot(rateLimit, { id: runId });
  if (slotInMs > 0) return slotInMs;
  try {
    await get();
    return 'known';
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') stopping.throwIfAborted();
    return error.kind === 'not_found' || error.kind === 'bad_request' ? 'unknown' : 'known';
  }
}
