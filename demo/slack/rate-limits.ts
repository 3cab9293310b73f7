/** Slack's tiers, in calls per minute (https://docs.slack.dev/apis/web-api/rate-limits). */
const PER_MINUTE = { T1: 1, T2: 20, T3: 50, T4: 100, special: 300 } as const;
export type Tier = keyof typeof PER_MINUTE;

// Slack documents about one message per second and channel, "short bursts" tolerated; three is our reading of short.
const POST_BURST_SECONDS = 3;

/** The limits of one workspace and app; each takes a call's moment and says how long the caller has to wait. */
export interface RateLimits {
  /** Seconds to wait, or 0 when the call is let through and counted. */
  take(method: string, tier: Tier, channel?: string): number;
  /** Forgets every call, as if minutes had passed. */
  forget(): void;
}

/** Lets every call through, for a bench that is not about Slack. */
export const noRateLimits: RateLimits = { take: () => 0, forget: () => {} };

/**
 * Counts calls as strictly as Slack may: at most the tier's number per method within any 60 s, since Slack
 * promises no more. `chat.postMessage` also has about one per second in each channel. Tests that are not about it take
 * so many `times` as much, and tell the bot the same. Apps that are `distributed` outside of Slack's Marketplace may read
 * conversations once a minute.
 */
export function createRateLimits(nowMs: () => number, times = 1, distributed = false): RateLimits {
  const burst = POST_BURST_SECONDS * times;
  const calls = new Map<string, number[]>();
  const buckets = new Map<string, { tokens: number; atMs: number }>();

  function windowWaitMs(method: string, tier: Tier, now: number): number {
    const isScarce = distributed && /^conversations\.(?:history|replies)$/.test(method);
    const [count, windowMs] = isScarce ? [1, 60_000 / times] : [PER_MINUTE[tier] * times, 60_000];
    const recent = (calls.get(method) ?? []).filter((atMs) => atMs > now - windowMs);
    calls.set(method, recent);
    const oldest = recent[recent.length - count];
    return oldest === undefined ? 0 : oldest + windowMs - now;
  }

  function bucketOf(channel: string, now: number) {
    const bucket = buckets.get(channel) ?? { tokens: burst, atMs: now };
    const refilled = bucket.tokens + ((now - bucket.atMs) / 1000) * times;
    const current = { tokens: Math.min(burst, Math.max(0, refilled)), atMs: now };
    buckets.set(channel, current);
    return current;
  }

  return {
    take(method, tier, channel) {
      const now = nowMs();
      let waitMs = windowWaitMs(method, tier, now);
      const bucket = channel === undefined ? undefined : bucketOf(channel, now);
      if (bucket && bucket.tokens < 1) {
        waitMs = Math.max(waitMs, ((1 - bucket.tokens) / times) * 1000);
      }
      if (waitMs > 0) return Math.max(1, Math.ceil(waitMs / 1000));
      calls.get(method)?.push(now);
      if (bucket) bucket.tokens -= 1;
      return 0;
    },
    forget() {
      calls.clear();
      buckets.clear();
    },
  };
}
