import type { Timing } from '../runtime/timing.ts';
import type { RateLimitStore } from '../store/rate-limit.ts';
import type { SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import { holdWhenLimited, readRateLimit } from './rate-limits.ts';

export interface ChannelsParts {
  slack: Pick<SlackApi, 'channel'>;
  rateLimiter: RateLimitStore;
  teamId: () => string;
  timing: Pick<Timing, 'readsPerMinute'>;
}

/**
 * Returns `slack.channel` under its rate limit. Concurrent requests share one call. If no slot is free, it rejects with
 * a `SlackApiError` of kind `limited`, whose `retryAfterMs` is the time of the retry.
 */
export function createChannels({ slack, rateLimiter, teamId, timing }: ChannelsParts): SlackApi['channel'] {
  const pending = new Map<string, ReturnType<SlackApi['channel']>>();

  async function fetchChannel(channelId: string) {
    const rateLimit = readRateLimit('info', teamId(), timing);
    const retryAfterMs = await rateLimiter.takeSlot(rateLimit, { id: channelId });
    if (retryAfterMs > 0)
      throw new SlackApiError('limited', 'conversations.info', 'no_turn', { retryAfterMs });
    return slack.channel(channelId).catch(holdWhenLimited(rateLimiter, rateLimit));
  }

  return (channelId) => {
    const request =
      pending.get(channelId) ?? fetchChannel(channelId).finally(() => pending.delete(channelId));
    pending.set(channelId, request);
    return request;
  };
}
