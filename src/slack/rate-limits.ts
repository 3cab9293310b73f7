import type { Timing } from '../runtime/timing.ts';
import type { RateLimit, RateLimitStore } from '../store/rate-limit.ts';
import { SlackApiError } from './errors.ts';

/** How long Slack is left alone when it says "too many" without saying until when. */
export const DEFAULT_RETRY_AFTER_MS = 30_000;

/** Turns that may be taken at once; a rate that was lifted is not held up by the burst of the usual one. */
const burst = (usual: number, perMinute: number) => Math.max(usual, Math.ceil(perMinute / 60));

/** About one message a second and conversation, short bursts tolerated: Slack's rate limits page. */
export const postRateLimit = (
  channel: string,
  { postsPerMinute }: Pick<Timing, 'postsPerMinute'>,
): RateLimit => ({
  bucket: `post:${channel}`,
  perMinute: postsPerMinute,
  burst: burst(2, postsPerMinute),
});

/** `chat.update` is tier 3, 50 a minute for the whole workspace; two are left for calls that travel slowly. */
export const editRateLimit = (
  teamId: string,
  { editsPerMinute }: Pick<Timing, 'editsPerMinute'>,
): RateLimit => ({
  bucket: `edit:${teamId}`,
  perMinute: editsPerMinute,
  burst: burst(8, editsPerMinute),
});

/** `reactions.add` is tier 3 as well, with a count of its own. */
export const reactionRateLimit = (
  teamId: string,
  { reactionsPerMinute }: Pick<Timing, 'reactionsPerMinute'>,
): RateLimit => ({
  bucket: `react:${teamId}`,
  perMinute: reactionsPerMinute,
  burst: burst(8, reactionsPerMinute),
});

/** `reactions.remove` is tier 2: 20 a minute. */
export const reactionRemovalRateLimit = (
  teamId: string,
  { reactionRemovalsPerMinute }: Pick<Timing, 'reactionRemovalsPerMinute'>,
): RateLimit => ({
  bucket: `unreact:${teamId}`,
  perMinute: reactionRemovalsPerMinute,
  burst: burst(3, reactionRemovalsPerMinute),
});

/** `conversations.info`, `.history` and `.replies` are tier 3, each with a count of its own. */
export const readRateLimit = (
  method: 'info' | 'history' | 'replies',
  teamId: string,
  { readsPerMinute }: Pick<Timing, 'readsPerMinute'>,
): RateLimit => ({
  bucket: `${method}:${teamId}`,
  perMinute: readsPerMinute,
  burst: burst(8, readsPerMinute),
});

/** Keeps everybody from the bucket that Slack says is empty; rejects with what it was given. */
export const holdWhenLimited =
  (rateLimiter: Pick<RateLimitStore, 'hold'>, rateLimit: RateLimit) => async (error: unknown) => {
    if (error instanceof SlackApiError && error.kind === 'limited') {
      await rateLimiter.hold(rateLimit, error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS);
    }
    throw error;
  };
