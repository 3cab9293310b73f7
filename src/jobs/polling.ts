import { z } from 'zod';
import { DocsApiError } from '../docs-api/errors.ts';
import type { Log } from '../runtime/log.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { isPermanent, type SlackApiError } from '../slack/errors.ts';
import type { RateLimit, RateLimitStore } from '../store/rate-limit.ts';

/** The result of one poll. `fraction` is 0 to 1. */
export const snapshot = z.object({ atMs: z.number(), fraction: z.number().optional() });
type Snapshot = z.infer<typeof snapshot>;

/** Number of snapshots for a plan; more would only enlarge the record. */
export const MAX_SNAPSHOTS = 8;

/** The input for the next poll's plan. Times are epoch milliseconds. */
interface Watched {
  startedAtMs: number;
  snapshots?: readonly Snapshot[];
}

/**
 * Returns the milliseconds until the next poll: a quarter of the remaining time, which the job's progress shows. If the
 * progress is unknown, or that time has passed, it is an eighth of the time elapsed. `jitter` is 0 to 1 and spreads runs that began together.
 */
export function nextPollMs(
  { startedAtMs, snapshots = [] }: Watched,
  nowMs: number,
  { pollMinMs, pollMaxMs }: Pick<Timing, 'pollMinMs' | 'pollMaxMs'>,
  jitter: number,
): number {
  const endMs = estimateEndMs(snapshots) ?? 0;
  const pauseMs = endMs > nowMs ? (endMs - nowMs) / 4 : (nowMs - startedAtMs) / 8;
  return Math.round(Math.max(Math.min(pauseMs * (0.9 + jitter * 0.2), pollMaxMs), pollMinMs));
}

/** Returns when the job would end at its rate from first snapshot to latest progress; undefined without a rate. */
function estimateEndMs(snapshots: readonly Snapshot[]): number | undefined {
  const known = snapshots.flatMap(({ atMs, fraction }) =>
    fraction === undefined ? [] : [{ atMs, fraction }],
  );
  const [first] = known;
  // Unchanged progress was reached at its first snapshot.
  const last = known.find(({ fraction }) => fraction === known.at(-1)?.fraction);
  if (first === undefined || last === undefined) return undefined;
  if (last.fraction <= first.fraction || last.atMs <= first.atMs) return undefined;
  const msPerWhole = (last.atMs - first.atMs) / (last.fraction - first.fraction);
  return last.atMs + (1 - last.fraction) * msPerWhole;
}

/** Returns the milliseconds until a run's planned poll. A time beyond any plan is from before a clock was set back. */
export function pollInMs(
  { nextPollAtMs, pollFailure }: { nextPollAtMs: number; pollFailure?: unknown },
  nowMs: number,
  { pollMaxMs }: Pick<Timing, 'pollMaxMs'>,
): number {
  const inMs = nextPollAtMs - nowMs;
  return pollFailure === undefined && inMs > pollMaxMs ? 0 : Math.max(0, inMs);
}

/** Returns the rate limit for one kind of poll with one API key. `keyId` identifies the key without revealing it. */
export function pollRateLimit(
  kind: 'export-status' | 'agent-status',
  keyId: string,
  perSecond: number,
): RateLimit {
  // More at once than one: at a hundred per second, some polls wake within the same few milliseconds.
  const count = Math.max(2, Math.ceil(perSecond / 10));
  return { name: `${kind}:${keyId}`, count, windowMs: (count * 1000) / perSecond, interactiveShare: 0.2 };
}

/** The part of a job's context that polls use. */
interface PollContext extends RetryParts {
  rateLimiter: RateLimitStore;
  alertAdmins: (teamId: string, project: string, error?: DocsApiError) => Promise<boolean>;
  stopping: AbortSignal;
  log: Log;
}

/** Returns the failure of a poll, and whether admins were alerted; undefined for an aborted poll. */
export async function failureOfPoll(
  run: { id: string; teamId: string; project: string; pollFailure?: PollFailure | undefined },
  error: unknown,
  rateLimit: RateLimit,
  context: PollContext,
): Promise<{ trouble: PollFailure; adminsTold?: boolean } | undefined> {
  if (!(error instanceof DocsApiError)) throw error;
  if (error.kind === 'aborted') return undefined;
  const trouble = nextFailure(run.pollFailure, error, context);
  // The limit belongs to the key and is no failure of other jobs, which wait for a slot.
  if (trouble.kind === 'limit') await context.rateLimiter.hold(rateLimit, trouble.nextMs - context.now());
  if (trouble.kind !== 'key' && error.kind !== 'forbidden') return { trouble };
  if (trouble.kind === 'key')
    context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
  return { trouble, adminsTold: await context.alertAdmins(run.teamId, run.project, error) };
}

/**
 * Looks up a job that a person named, before anything about it is public. Returns whether the platform knows it, or in
 * how many milliseconds to try. A job counts as known unless the platform says otherwise.
 */
export async function lookUpJob(
  runId: string,
  rateLimit: RateLimit,
  get: () => Promise<unknown>,
  { rateLimiter, stopping }: Pick<PollContext, 'rateLimiter' | 'stopping'>,
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

/** Why calls to the platform fail, while that lasts. */
export const pollFailure = z.object({
  kind: z.enum(['down', 'limit', 'key', 'forbidden', 'project', 'lost']),
  /** Consecutive failures of this kind. */
  inARow: z.number().int(),
  /** The time of the next try; epoch milliseconds. */
  nextMs: z.number(),
});
export type PollFailure = z.infer<typeof pollFailure>;

const TROUBLE_KINDS: Partial<Record<DocsApiError['kind'], PollFailure['kind']>> = {
  key_rejected: 'key',
  forbidden: 'forbidden',
  bad_request: 'forbidden',
  rate_limited: 'limit',
  not_found: 'lost',
};

export interface RetryParts {
  now: () => number;
  random: () => number;
  timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>;
}

/** Pause before the platform is asked again while an operator has to act: key refused, or project missing. */
const OPERATOR_RETRY_MS = 60_000;

/** Returns the failure after one more error: the platform's, or a project missing from the settings. */
export function nextFailure(
  before: PollFailure | undefined,
  error: Pick<DocsApiError, 'kind' | 'retryAfterMs'> | 'project',
  parts: RetryParts,
): PollFailure {
  const kind = error === 'project' ? error : (TROUBLE_KINDS[error.kind] ?? 'down');
  const retryAfterMs = error === 'project' ? undefined : error.retryAfterMs;
  const inARow = before?.kind === kind ? before.inARow + 1 : 1;
  const needsOperator = ['key', 'forbidden', 'project'].includes(kind);
  const pauseMs = needsOperator ? OPERATOR_RETRY_MS : failurePauseMs(inARow, { retryAfterMs }, parts);
  return { kind, inARow, nextMs: parts.now() + Math.max(retryAfterMs ?? 0, pauseMs) };
}

/** Returns the pause after this many consecutive failures, the last of which was `error`. */
export const failurePauseMs = (
  failures: number,
  { retryAfterMs = 0 }: { retryAfterMs?: number | undefined },
  { timing, random }: RetryParts,
) => Math.max(retryAfterMs, backoffMs(timing, failures, random()));

/** Returns the pause before a failed Slack look-up is repeated. */
export const lookupRetryMs = ({ timing, random }: Omit<RetryParts, 'now'>) => backoffMs(timing, 3, random());

/** Returns the pause before a failed Slack call is repeated; undefined if a retry cannot succeed. */
export const slackRetryMs = (error: SlackApiError, parts: Omit<RetryParts, 'now'>): number | undefined =>
  isPermanent(error) ? undefined : Math.max(error.retryAfterMs ?? 0, lookupRetryMs(parts));
