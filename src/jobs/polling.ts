import { DocsApiError } from '../docs-api/errors.ts';
import type { Timing } from '../runtime/timing.ts';
import type { RateLimit } from '../store/rate-limit.ts';
import type { JobContext } from './context.ts';
import type { Snapshot, Trouble } from './poll-record.ts';
import { troubleAfter } from './retry.ts';

/** The end is near from so long before it is expected until so long after. */
const END_WINDOW_MS = 10_000;

/**
 * Returns when to poll a job next that says nothing of its progress, in milliseconds from now: an eighth of the time that
 * it has taken. `jitter` is 0 to 1 and spreads runs that began together.
 */
export function nextPollMs(
  startedAtMs: number,
  nowMs: number,
  { pollMinMs, pollMaxMs }: Pick<Timing, 'pollMinMs' | 'pollMaxMs'>,
  jitter: number,
): number {
  const pauseMs = ((nowMs - startedAtMs) / 8) * (0.9 + jitter * 0.2);
  return Math.round(Math.max(Math.min(pauseMs, pollMaxMs), pollMinMs));
}

/** Whether the end is expected about now: somebody waits for it, so a poll is worth more than at another time. */
export function isNearEnd(snapshots: readonly Snapshot[], nowMs: number): boolean {
  const end = estimateEnd(snapshots);
  return end !== undefined && Math.abs(end.atMs - nowMs) <= END_WINDOW_MS;
}

/** Progress in whole percents, and no progress is quite even. */
const LEAST_ERROR = 0.01;

/** Progress in multiples of this comes in steps. */
const STEP = 0.05;

interface Level {
  fraction: number;
  /** It was reached after the first and no later than the second of these times. */
  afterMs: number;
  byMs: number;
}

/** Whether there may be steps although each poll saw a new one. */
function keepsTimeWithSteps(snapshots: readonly Snapshot[]): boolean {
  const fractions = snapshots.flatMap(({ fraction }) => fraction ?? []);
  const isStep = (fraction: number) => Math.abs(fraction / STEP - Math.round(fraction / STEP)) < 1e-9;
  return fractions.length > 2 && fractions.every(isStep);
}

/**
 * Returns when the job would end at the rate seen between the polls, and how far that may be wrong; nothing while no rate
 * was seen.
 */
export function estimateEnd(snapshots: readonly Snapshot[]): { atMs: number; errorMs: number } | undefined {
  const levels: Level[] = [];
  let isStepped = keepsTimeWithSteps(snapshots);
  let beforeMs: number | undefined;
  for (const { atMs, fraction } of snapshots) {
    if (fraction === undefined) continue;
    const last = levels.at(-1);
    if (last !== undefined && fraction === last.fraction) isStepped = true;
    // What went back begins again.
    if (last !== undefined && fraction < last.fraction) levels.length = 0;
    if (fraction !== levels.at(-1)?.fraction)
      levels.push({ fraction, afterMs: beforeMs ?? atMs, byMs: atMs });
    beforeMs = atMs;
  }
  const first = levels.at(0);
  const last = levels.at(-1);
  if (first === undefined || last === undefined || first === last) return undefined;
  // Between two steps, nothing shows when the earlier one was reached but the polls around it.
  const reachedMs = ({ afterMs, byMs }: Level) => (isStepped ? (afterMs + byMs) / 2 : byMs);
  const tookMs = reachedMs(last) - reachedMs(first);
  if (!(tookMs > 0)) return undefined;
  const msPerWhole = tookMs / (last.fraction - first.fraction);
  const restMs = (1 - last.fraction) * msPerWhole;
  const errorOf = ({ afterMs, byMs }: Level) =>
    isStepped ? byMs - afterMs : Math.min(byMs - afterMs, LEAST_ERROR * msPerWhole);
  const rateErrorMs = (errorOf(first) + errorOf(last)) * (restMs / tookMs);
  return {
    atMs: reachedMs(last) + restMs,
    errorMs: errorOf(last) + rateErrorMs + LEAST_ERROR * restMs,
  };
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
  // What late wake-ups left unused is made up for: of a hundred a second, some come within the same few milliseconds.
  burst: Math.max(2, Math.ceil(perSecond / 10)),
});

/**
 * Returns the trouble that a failed poll makes, and whether admins were alerted of it; nothing for a poll
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
  if (trouble.kind !== 'key' && error.kind !== 'forbidden') return { trouble };
  if (trouble.kind === 'key')
    context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
  return { trouble, adminsTold: await context.alertAdmins(run.teamId, run.project, error) };
}

/** Asks for a job that somebody named, before anything about it is public. Returns whether the platform knows none. */
export async function isUnknownJob(get: () => Promise<unknown>, stopping: AbortSignal): Promise<boolean> {
  try {
    await get();
    return false;
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') stopping.throwIfAborted();
    return error.kind === 'not_found' || error.kind === 'bad_request';
  }
}
