import type { Timing } from '../runtime/timing.ts';
import type { RateLimitStore } from '../store/rate-limit.ts';
import type { FoundMessage, SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import { holdWhenLimited, readRateLimit } from './rate-limits.ts';

/** A post whose outcome is unknown. */
interface LostPost {
  teamId: string;
  key: string;
  place: { channel: string; threadTs?: string };
  /** The earliest time at which it was posted, by Slack's clock. */
  sinceMs: number;
  /** The earliest start of the search: from then on, a post that took effect is found. */
  fromMs: number;
}

/** The result of a search: the next page can be read in `waitMs`, or whether the message is there. */
type SearchResult = { kind: 'wait'; waitMs: number } | { kind: 'known'; found: FoundMessage | undefined };

/** The pages of a place, read for all posts that are searched for in it. */
interface HistoryRead {
  /** When the first page was requested: posts that had taken effect until then are on these pages. */
  startedAtMs: number;
  sinceMs: number;
  cursor?: string | undefined;
  found: Map<string, FoundMessage>;
  isComplete: boolean;
  usedAtMs: number;
}

/** The first post searched for is not always the first that was posted. */
const MARGIN_MS = 60_000;

/** How long a complete read serves other posts, and a read under way is kept unused. */
const CACHE_MS = 60_000;
const UNUSED_MS = 10 * 60_000;

interface SearchParts {
  slack: Pick<SlackApi, 'findMessages'>;
  rateLimiter: RateLimitStore;
  timing: Pick<Timing, 'readsPerMinute'>;
  now: () => number;
}

/**
 * Returns a search for posts whose answers were lost. Each page takes a slot, and the next attempt continues after it.
 * After an outage many posts of one place are missing: one read finds all whose `fromMs` had passed when it began.
 */
export function createLostPostSearch({ slack, rateLimiter, timing, now }: SearchParts) {
  const reads = new Map<string, HistoryRead>();
  /** The pages being read; each resolves with the wait before the next one. */
  const pages = new Map<string, Promise<number>>();

  return async (sought: LostPost): Promise<SearchResult> => {
    const place = placeKeyOf(sought.place);
    const page = pages.get(place) ?? readNext(place, sought).finally(() => pages.delete(place));
    pages.set(place, page);
    const waitMs = await page;
    const read = reads.get(place);
    if (isAnsweredBy(read, sought)) return { kind: 'known', found: read?.found.get(sought.key) };
    return { kind: 'wait', waitMs };
  };

  /** Reads the next page of the place if a slot is free for it. Returns how long to wait before the next one. */
  async function readNext(name: string, sought: LostPost): Promise<number> {
    const { teamId, place } = sought;
    const nowMs = now();
    for (const [other, { usedAtMs, isComplete }] of reads)
      if (usedAtMs < nowMs - (isComplete ? CACHE_MS : UNUSED_MS)) reads.delete(other);
    const known = reads.get(name);
    if (isAnsweredBy(known, sought)) return 0;
    const rateLimit = readRateLimit(place.threadTs === undefined ? 'history' : 'replies', teamId, timing);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: name });
    if (waitMs > 0) return waitMs;
    // A read that is under way goes on, so that it ends however many posts are searched for.
    const read: HistoryRead =
      known && !known.isComplete
        ? known
        : {
            startedAtMs: nowMs,
            sinceMs: sought.sinceMs - MARGIN_MS,
            found: new Map(),
            isComplete: false,
            usedAtMs: nowMs,
          };
    read.usedAtMs = nowMs;
    reads.set(name, read);
    try {
      const { found, nextCursor } = await slack.findMessages(place, read.sinceMs, read.cursor);
      for (const [key, message] of found) read.found.set(key, message);
      read.cursor = nextCursor;
      read.isComplete = nextCursor === undefined;
    } catch (error) {
      // The message at which the next page begins was deleted.
      if (error instanceof SlackApiError && error.code === 'invalid_cursor') read.cursor = undefined;
      else await holdWhenLimited(rateLimiter, rateLimit)(error);
    }
    return 0;
  }
}

/** Returns whether a read says if the post is there. One begun before `fromMs` may show an earlier, deleted one. */
const isAnsweredBy = (read: HistoryRead | undefined, { key, sinceMs, fromMs }: LostPost) =>
  read !== undefined &&
  read.startedAtMs >= fromMs &&
  read.sinceMs <= sinceMs &&
  (read.isComplete || read.found.has(key));

const placeKeyOf = ({ channel, threadTs }: LostPost['place']) => JSON.stringify([channel, threadTs]);
