import type { Timing } from '../runtime/timing.ts';
import type { RateLimitStore } from '../store/rate-limit.ts';
import type { SlackApi } from './client.ts';
import type { FoundMessage } from './message-metadata.ts';
import { holdWhenLimited, readRateLimit } from './rate-limits.ts';

/** A post whose outcome is unknown. */
export interface LostPost {
  teamId: string;
  key: string;
  place: { channel: string; threadTs?: string };
  /** The earliest time at which it was posted, by Slack's clock. */
  sinceMs: number;
  /** The search must start no earlier than this: by then, a post that took effect is found. */
  fromMs: number;
}

/** The result of a search: a slot for its call is free in `waitMs`, or it is known whether the message is there. */
export type SearchResult =
  | { kind: 'wait'; waitMs: number }
  | { kind: 'known'; found: FoundMessage | undefined };

/** One call to Slack that returns every message in a place. */
interface HistoryRead {
  startedAtMs: number;
  sinceMs: number;
  messages: Promise<ReadonlyMap<string, FoundMessage>>;
}

/** The first post searched for is not always the first that was posted. */
const MARGIN_MS = 60_000;

/** How long the result of a call is kept for other posts of the same place. */
const CACHE_MS = 60_000;

export interface SearchParts {
  slack: Pick<SlackApi, 'findMessages'>;
  rateLimiter: RateLimitStore;
  timing: Pick<Timing, 'readsPerMinute'>;
  now: () => number;
}

/**
 * Returns a search for posts whose answers were lost. After an outage there are many of one place: one call finds all
 * whose `fromMs` had passed when it was made.
 */
export function createLostPostSearch({
  slack,
  rateLimiter,
  timing,
  now,
}: SearchParts): (sought: LostPost) => Promise<SearchResult> {
  const reads = new Map<string, HistoryRead>();
  const slots = new Map<string, Promise<number>>();

  return async ({ teamId, key, place, sinceMs, fromMs }) => {
    const placeKey = JSON.stringify([place.channel, place.threadTs]);
    const cached = cachedRead();
    if (cached) return resultOf(cached);
    const rateLimit = readRateLimit(place.threadTs === undefined ? 'history' : 'replies', teamId, timing);
    const shared = slots.get(placeKey);
    const slot =
      shared ??
      rateLimiter.takeSlot(rateLimit, { id: placeKey, sinceMs }).finally(() => {
        slots.delete(placeKey);
      });
    slots.set(placeKey, slot);
    const waitMs = await slot;
    if (waitMs > 0) return { kind: 'wait', waitMs };
    const newer = cachedRead();
    if (newer) return resultOf(newer);
    if (shared) return { kind: 'wait', waitMs: 0 };
    const startedAtMs = now();
    for (const [name, old] of reads) if (old.startedAtMs < startedAtMs - CACHE_MS) reads.delete(name);
    const earlierMs = sinceMs - MARGIN_MS;
    const messages = slack.findMessages(place, earlierMs).catch(holdWhenLimited(rateLimiter, rateLimit));
    const read = { startedAtMs, sinceMs: earlierMs, messages };
    reads.set(placeKey, read);
    return resultOf(read);

    function cachedRead(): HistoryRead | undefined {
      const last = reads.get(placeKey);
      return last && last.startedAtMs >= fromMs && last.sinceMs <= sinceMs ? last : undefined;
    }

    async function resultOf(read: HistoryRead): Promise<SearchResult> {
      try {
        return { kind: 'known', found: (await read.messages).get(key) };
      } catch (error) {
        if (reads.get(placeKey) === read) reads.delete(placeKey);
        throw error;
      }
    }
  };
}
