import type { Log } from '../runtime/log.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import type { RateLimit, RateLimitStore } from '../store/rate-limit.ts';
import { SlackApiError } from './errors.ts';

/** The pause after a 429 from Slack without `Retry-After`. */
const DEFAULT_RETRY_AFTER_MS = 30_000;

/** `count` a minute, of which `burst` may come at once; more if a bench raises the count. */
function perMinute(name: string, count: number, burst: number): RateLimit {
  const atOnce = Math.max(burst, Math.ceil(count / 60));
  return { name, count: atOnce, windowMs: (atOnce * 60_000) / count };
}

/** About one message a second and conversation, short bursts tolerated: Slack's rate limits page. */
export const postRateLimit = (
  channel: string,
  { postsPerMinute }: Pick<Timing, 'postsPerMinute'>,
): RateLimit => ({
  ...perMinute(`post:${channel}`, postsPerMinute, 2),
  interactiveShare: 0.5,
});

/** `chat.update` is tier 3, 50 a minute for the whole workspace; half of ours is for endings and clicks. */
export const editRateLimit = (
  teamId: string,
  { editsPerMinute }: Pick<Timing, 'editsPerMinute'>,
): RateLimit => ({
  ...perMinute(`edit:${teamId}`, editsPerMinute, 8),
  interactiveShare: 0.5,
});

/** `conversations.info`, `.history` and `.replies` are tier 3, each with its own count. */
export const readRateLimit = (
  method: 'info' | 'history' | 'replies',
  teamId: string,
  { readsPerMinute }: Pick<Timing, 'readsPerMinute'>,
) => perMinute(`${method}:${teamId}`, readsPerMinute, 8);

/** `files.getUploadURLExternal`, `.completeUploadExternal` and `files.info` are tier 4: 100 a minute each. */
export const fileRateLimit = (
  method: 'begin' | 'complete' | 'info',
  teamId: string,
  { fileCallsPerMinute }: Pick<Timing, 'fileCallsPerMinute'>,
) => perMinute(`files-${method}:${teamId}`, fileCallsPerMinute, 8);

/** Weekly digests of a workspace: many are due at the same minute, and people's requests need posts as well. */
export const digestRateLimit = (teamId: string, { digestsPerMinute }: Pick<Timing, 'digestsPerMinute'>) =>
  perMinute(`digests:${teamId}`, digestsPerMinute, 4);

/** Returns an error handler that holds the limit if Slack says that it is reached. It always rethrows. */
export const holdWhenLimited =
  (rateLimiter: Pick<RateLimitStore, 'hold'>, rateLimit: RateLimit) => async (error: unknown) => {
    if (error instanceof SlackApiError && error.kind === 'limited') {
      await rateLimiter.hold(rateLimit, error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS);
    }
    throw error;
  };

export interface RetryParts {
  timing: Timing;
  random: () => number;
  log: Log;
  /** Called for each failed call that is repeated. */
  onRetry?: () => void;
}

/**
 * Returns when to retry a failed call, and the number of consecutive failures; undefined if Slack refuses it for good.
 * `before` is the number of earlier failures; `about` is for the log.
 */
export function retryOf(
  { kind, code, method, retryAfterMs }: SlackApiError,
  before: number,
  about: object,
  { timing, random, log, onRetry }: RetryParts,
): { inMs: number; failures: number } | undefined {
  // Another call checks whether the token works again.
  if (kind === 'token' && retryAfterMs !== undefined) return { inMs: retryAfterMs, failures: before };
  const isLimited = kind === 'limited';
  if (!isLimited && kind !== 'unclear' && kind !== 'unreachable' && kind !== 'token') return undefined;
  const failures = isLimited ? before : before + 1;
  log.warn({ ...about, kind, code, method, failures }, 'Slack call failed');
  onRetry?.();
  if (isLimited) return { inMs: retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, failures };
  const pauseMs = backoffMs(timing, failures, random());
  // A call that may still arrive must not arrive after the next one.
  return { inMs: kind === 'unclear' ? Math.max(timing.callMarginMs, pauseMs) : pauseMs, failures };
}
