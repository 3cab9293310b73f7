import type { Log } from '../runtime/log.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import type { RateLimit, RateLimitStore } from '../store/rate-limit.ts';
import { SlackApiError } from './errors.ts';

/** The pause after a 429 from Slack without `Retry-After`. */
const DEFAULT_RETRY_AFTER_MS = 30_000;

/** Slack's rate limits. The setting is the count a minute, of which `burst` calls may come at once. */
const LIMITS = {
  /** About one message a second and conversation, short bursts tolerated: Slack's rate limits page. */
  post: { setting: 'postsPerMinute', burst: 2, interactiveShare: 0.5 },
  /** `chat.update` is tier 3, 50 a minute for the whole workspace; half of ours is for endings and clicks. */
  edit: { setting: 'editsPerMinute', burst: 8, interactiveShare: 0.5 },
  /** `chat.delete` is tier 3, with a count of its own. */
  delete: { setting: 'editsPerMinute', burst: 8 },
  /** `conversations.info`, `.history` and `.replies` are tier 3, each with its own count. */
  info: { setting: 'readsPerMinute', burst: 8 },
  history: { setting: 'readsPerMinute', burst: 8 },
  replies: { setting: 'readsPerMinute', burst: 8 },
  /** Weekly digests of a workspace: many are due at the same minute, and people's requests need posts as well. */
  digests: { setting: 'digestsPerMinute', burst: 4 },
} as const;

type SlackLimit = keyof typeof LIMITS;

/** Returns a rate limit of Slack, for a workspace's team id; for `post`, for its conversation. */
export function slackRateLimit(name: SlackLimit, subject: string, timing: Timing): RateLimit {
  const { setting, burst, ...rest } = LIMITS[name];
  const perMinute = timing[setting];
  // More at once if a bench raises the count.
  const count = Math.max(burst, Math.ceil(perMinute / 60));
  return { name: `${name}:${subject}`, count, windowMs: (count * 60_000) / perMinute, ...rest };
}

/** Returns all rate limits of a workspace, without those of single conversations. */
export const workspaceLimits = (teamId: string, timing: Timing): RateLimit[] =>
  (Object.keys(LIMITS) as SlackLimit[])
    .filter((name) => name !== 'post')
    .map((name) => slackRateLimit(name, teamId, timing));

/** Returns an error handler that holds the limit if Slack says that it is reached. It always rethrows. */
export const holdWhenLimited =
  (rateLimiter: Pick<RateLimitStore, 'hold'>, rateLimit: RateLimit) => async (error: unknown) => {
    if (error instanceof SlackApiError && error.kind === 'limited')
      await rateLimiter.hold(rateLimit, error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS);
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
  // A problem says how long Slack is away; each message is logged once.
  const line = { ...about, kind, code, method, failures };
  if (failures === 1) log.warn(line, 'Slack call failed');
  else log.debug(line, 'Slack call failed');
  onRetry?.();
  if (isLimited) return { inMs: retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, failures };
  const pauseMs = backoffMs(timing, failures, random());
  // A call that may still arrive must not arrive after the next one.
  return { inMs: kind === 'unclear' ? Math.max(timing.callMarginMs, pauseMs) : pauseMs, failures };
}
