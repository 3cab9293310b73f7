import { z } from 'zod';
import { type DocsApi, keyIdOf } from '../../docs-api/client.ts';
import { DocsApiError } from '../../docs-api/errors.ts';
import type { Project } from '../../projects.ts';
import { Later } from '../../runtime/later.ts';
import { backoffMs, type Timing } from '../../runtime/timing.ts';
import { isPermanent, type SlackApiError } from '../../slack/errors.ts';
import type { limitNames, RateLimit } from '../../store/rate-limit.ts';
import type { JobContext } from './context.ts';

/**
 * Returns the milliseconds until the next poll: a quarter of the remaining time, if the job's progress shows that
 * (`fraction`, 0 to 1, reached at `movedAtMs`); else an eighth of the time elapsed. `jitter` is 0 to 1 and spreads runs
 * that began together.
 */
export function nextPollMs(
  job: { startedAtMs: number; fraction?: number | undefined; movedAtMs?: number | undefined },
  nowMs: number,
  { pollMinMs, pollMaxMs }: Pick<Timing, 'pollMinMs' | 'pollMaxMs'>,
  jitter: number,
): number {
  const { startedAtMs, fraction = 0, movedAtMs = startedAtMs } = job;
  const endMs = fraction > 0 ? startedAtMs + (movedAtMs - startedAtMs) / fraction : 0;
  const pauseMs = endMs > nowMs ? (endMs - nowMs) / 4 : (nowMs - startedAtMs) / 8;
  return Math.round(Math.max(Math.min(pauseMs * (0.9 + jitter * 0.2), pollMaxMs), pollMinMs));
}

/** Returns the rate limit for one kind of poll with one API key. `keyId` identifies the key without revealing it. */
function pollRateLimit(kind: PollKind, keyId: string, perSecond: number): RateLimit {
  // More at once than one: at a hundred per second, some polls wake within the same few milliseconds.
  const count = Math.max(2, Math.ceil(perSecond / 10));
  return { name: `${kind}:${keyId}`, count, windowMs: (count * 1000) / perSecond, interactiveShare: 0.2 };
}

export type PollKind = Extract<(typeof limitNames)[number], `${string}-status`>;

/** Returns the limits of polls with each key of these projects. */
export const pollRateLimits = (kind: PollKind, projects: readonly Project[], perSecond: number) =>
  [...new Set(projects.map(keyIdOf))].map((keyId) => ({ limit: pollRateLimit(kind, keyId, perSecond) }));

/** A run that polls a job of the platform. A poll that a person asked for has priority. */
interface PolledRun {
  id: string;
  teamId: string;
  project: string;
  nextPollAtMs: number;
  pollFailure?: PollFailure | undefined;
  pollRequested?: boolean | undefined;
}

/** The job, or the failure; its `error` is missing if the project is. */
type PollResult<J> = { job: J } | { failure: PollFailure; error?: DocsApiError };

/**
 * Polls a job. Throws `Later` until that is due and a slot is free. Without `docs`, the settings no longer have the project.
 */
export async function pollJob<J>(
  run: PolledRun,
  kind: PollKind,
  docs: DocsApi | undefined,
  get: (docs: DocsApi) => Promise<J>,
  context: JobContext,
): Promise<PollResult<J>> {
  const { now, timing, log } = context;
  const inMs = run.nextPollAtMs - now();
  // A time beyond any plan is from before a clock was set back.
  const isPlanned = run.pollFailure !== undefined || inMs <= timing.pollMaxMs;
  if (inMs > 0 && isPlanned) throw new Later(inMs);
  if (docs === undefined) return { failure: nextFailure(run.pollFailure, 'project', context) };
  const rateLimit = pollRateLimit(kind, docs.keyId, context.settings.limits.exportStatusPerSecond);
  const priority = run.pollRequested ? 'interactive' : 'low';
  await context.store.rateLimiter.awaitSlot(rateLimit, { id: run.id, priority });
  try {
    return { job: await get(docs) };
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') throw new Later(0);
    const failure = nextFailure(run.pollFailure, error, context);
    // The limit belongs to the key and is no failure of other jobs, which wait for a slot.
    if (failure.kind === 'limit') await context.store.rateLimiter.hold(rateLimit, failure.nextMs - now());
    if (failure.kind === 'key') log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
    if (failure.kind !== 'key' && error.kind !== 'forbidden') return { failure, error };
    const adminsAlerted = await context.platform.alertAdmins(run.teamId, run.project, error);
    return { failure: { ...failure, adminsAlerted }, error };
  }
}

/** Whether a poll shows that there is no such job. A job counts as known unless the platform says otherwise. */
export const isUnknownJob = (poll: PollResult<unknown>) =>
  'error' in poll && (poll.error?.kind === 'not_found' || poll.error?.kind === 'bad_request');

/** Why calls to the platform fail, while that lasts. */
export const pollFailure = z.object({
  kind: z.enum(['down', 'limit', 'key', 'forbidden', 'project', 'lost']),
  /** Consecutive failures of this kind. */
  inARow: z.number().int(),
  /** The time of the next try; epoch milliseconds. */
  nextMs: z.number(),
  /** Until then it is tried again, if it is the start of an export. */
  untilMs: z.number().optional(),
  /** The admins were alerted of it. */
  adminsAlerted: z.boolean().optional(),
});
export type PollFailure = z.infer<typeof pollFailure>;

const FAILURE_KINDS: Partial<Record<DocsApiError['kind'], PollFailure['kind']>> = {
  key_rejected: 'key',
  forbidden: 'forbidden',
  bad_request: 'forbidden',
  rate_limited: 'limit',
  not_found: 'lost',
};

type RetryParts = Pick<JobContext, 'random'> & { timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs'> };

/** Pause before the platform is asked again while an operator has to act: key refused, or project missing. */
const OPERATOR_RETRY_MS = 60_000;

/** Returns the failure after one more error: the platform's, or a project missing from the settings. */
export function nextFailure(
  before: PollFailure | undefined,
  error: Pick<DocsApiError, 'kind' | 'retryAfterMs'> | 'project',
  { now, random, timing }: RetryParts & Pick<JobContext, 'now'>,
): PollFailure {
  const kind = error === 'project' ? error : (FAILURE_KINDS[error.kind] ?? 'down');
  const { retryAfterMs = 0 } = error === 'project' ? {} : error;
  const inARow = before?.kind === kind ? before.inARow + 1 : 1;
  const needsOperator = ['key', 'forbidden', 'project'].includes(kind);
  const pauseMs = needsOperator ? OPERATOR_RETRY_MS : backoffMs(timing, inARow, random());
  return { kind, inARow, nextMs: now() + Math.max(retryAfterMs, pauseMs) };
}

/** Returns the pause before a failed Slack look-up is repeated. */
export const lookupRetryMs = ({ timing, random }: RetryParts) => backoffMs(timing, 3, random());

/** Returns the pause before a failed Slack call is repeated; undefined if a retry cannot succeed. */
export const slackRetryMs = (error: SlackApiError, parts: RetryParts): number | undefined =>
  isPermanent(error) ? undefined : Math.max(error.retryAfterMs ?? 0, lookupRetryMs(parts));
