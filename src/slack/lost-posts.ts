import type { Timing } from '../runtime/timing.ts';
import type { RateLimitStore } from '../store/rate-limit.ts';
import type { SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import type { FoundMessage } from './message-metadata.ts';
import { holdWhenLimited, readRateLimit } from './rate-limits.ts';

/** A post whose outcome is unknown. */
export interface LostPost {
  teamId: string;
  key: string;
  place: { channel: string; threadTs?: string };
  /** The earliest time at which it was posted, by Slack's clock. */
  sinceMs: number;
  /** The earliest start of the search: from then on, a post that took effect is found. */
  fromMs: number;
}

/** The result of a search: the next page can be read in `waitMs`, or whether the message is there. */
export type SearchResult =
  | { kind: 'wait'; waitMs: number }
  | { kind: 'known'; found: FoundMessage | undefined };

/** The pages of a place, read for all posts that are searched for in it. */
interface HistoryRead {
  /** When the first page was requested: posts that had taken effect until then are on these pages. */
  startedAtMs?: number;
  sinceMs: number;
  cursor?: string | undefined;
  found: Map<string, FoundMessage>;
  isComplete: boolean;
  /** The page being read; resolves with the wait before the next one. */
  page?: Promise<number> | undefined;
  usedAtMs: number;
}

/** The first post searched for is not always the first that was posted. */
const MARGIN_MS = 60_000;

/** How long a complete read serves other posts, and an unused read is kept. */
const CACHE_MS = 60_000;
const UNUSED_MS = 10 * 60_000;

export interface SearchParts {
  slack: Pick<SlackApi, 'findMessages'>;
  rateLimiter: RateLimitStore;
  timing: Pick<Timing, 'readsPerMinute'>;
  now: () => number;
}

/**
 * Returns a search for posts whose answers were lost. Each page takes a slot, and the next attempt continues after it.
 * After an outage many posts of one place are missing: one read finds all whose `fromMs` had passed when it began.
 */
export function createLostPostSearch({
  slack,
  rateLimiter,
  timing,
  now,
}: SearchParts): (sought: LostPost) => Promise<SearchResult> {
  const reads = new Map<string, HistoryRead[]>();

  return async (sought) => {
    const read = readFor(sought);
    if (!isKnown()) {
      read.page ??= readNext(read, sought).finally(() => {
        read.page = undefined;
      });
      const waitMs = await read.page;
      if (!isKnown()) return { kind: 'wait', waitMs };
    }
    return { kind: 'known', found: read.found.get(sought.key) };

    function isKnown() {
      return read.isComplete || read.found.has(sought.key);
    }
  };

  /** Returns a read that will find the post if it is there. */
  function readFor({ place, sinceMs, fromMs }: LostPost): HistoryRead {
    const atMs = now();
    for (const [name, all] of reads) {
      const kept = all.filter((read) => !isStale(read, atMs));
      if (kept.length > 0) reads.set(name, kept);
      else reads.delete(name);
    }
    const ofPlace = reads.get(placeKeyOf(place)) ?? [];
    let read = ofPlace.find(
      ({ startedAtMs = atMs, sinceMs: readSinceMs }) => startedAtMs >= fromMs && readSinceMs <= sinceMs,
    );
    if (read === undefined) {
      read = { sinceMs: sinceMs - MARGIN_MS, found: new Map(), isComplete: false, usedAtMs: atMs };
      reads.set(placeKeyOf(place), [...ofPlace, read]);
    }
    read.usedAtMs = atMs;
    return read;
  }

  /** Reads one page if a slot is free for it. Returns how long to wait before the next one. */
  async function readNext(read: HistoryRead, { teamId, place }: LostPost): Promise<number> {
    const rateLimit = readRateLimit(place.threadTs === undefined ? 'history' : 'replies', teamId, timing);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: placeKeyOf(place) });
    if (waitMs > 0) return waitMs;
    read.startedAtMs ??= now();
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

const placeKeyOf = ({ channel, threadTs }: LostPost['place']) => JSON.stringify([channel, threadTs]);

const isStale = (
  { isComplete, startedAtMs = Number.POSITIVE_INFINITY, usedAtMs }: HistoryRead,
  nowMs: number,
) => (isComplete && startedAtMs < nowMs - CACHE_MS) || usedAtMs < nowMs - UNUSED_MS;
