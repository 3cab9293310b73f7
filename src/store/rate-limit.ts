import { keys } from './keys.ts';
import { LUA_RATE_LIMIT } from './rate-limit-lua.ts';
import type { RedisClient } from './redis/client.ts';
import { luaScript } from './redis/lua.ts';

/**
 * How often something may happen, shared by all processes. Without `burst` it is `count` times in any `windowMs`,
 * however close together. With `burst` slots come back one by one, `count` of them in each `windowMs`, and `burst` of
 * them at most can be taken at once.
 */
export interface RateLimit {
  name: string;
  count: number;
  windowMs: number;
  burst?: number;
}

/** How the names of rate limits begin; a team, channel, key, project or person follows after a colon. */
export const limitNames = [
  'post',
  'edit',
  'info',
  'history',
  'replies',
  'files-begin',
  'files-complete',
  'files-info',
  'digests',
  'home',
  'export-status',
  'agent-status',
  'analytics',
  'analytics-background',
  'analytics-person',
  'follow-ups',
] as const;

export const limitNameOf = ({ name }: Pick<RateLimit, 'name'>): string => name.split(':', 1)[0] ?? '';

/**
 * Somebody who wants a slot. Those who wait stand in line: the lower `rank` first, then one of each group's at a time,
 * then the earlier `sinceMs`.
 */
export interface SlotRequest {
  /**
   * Names who asks, so that asking again keeps the place in the line. Without `burst` it names the slot as well: taken
   * twice, it counts once, as of the last time.
   */
  id: string;
  /** A small whole number; 0, the default, is the most urgent. */
  rank?: number;
  sinceMs: number;
  /** How many slots it leaves free for others, of a limit with `burst`: fewer than that; 0 by default. */
  spare?: number;
  /** The id of the person or thread it is for, without blanks; what has none is a group of its own. */
  group?: string | undefined;
}

/** How much of a limit is in use: `free` slots can be taken at once, `nextMs` until the first in the line has one. */
export interface RateLimitUsage {
  used: number;
  free: number;
  waiting: number;
  nextMs: number;
}

export type RateLimitStore = ReturnType<typeof createRateLimitStore>;

/**
 * With `burst`, nobody is sent away for longer: meanwhile they may have become more urgent. Without it they get the
 * whole wait, since people read it.
 */
const MAX_WAIT_MS = 5000;

/** Somebody who asks again later than the time they got, by no more than this, still has the place. */
const SPACED_GRACE_MS = 1000;
const WINDOW_GRACE_MS = 60_000;

/**
 * The keys of `rateLimit` in Lua: what counts the slots, the line, until when each who waits in it is waited for, the
 * hold, and what the line is made from (each group's own, the places, the rounds). Processes of the last release have a
 * line of their own, `:line` and `:gone`, for the same count and hold.
 */
export function limitKeys({ name, burst }: RateLimit): string[] {
  const key = burst === undefined ? keys.windowLimit : keys.spacedLimit;
  return ['', ':order', ':until', ':hold', ':mine', ':places', ':rounds'].map((part) =>
    key(`${name}${part}`),
  );
}

/** The first arguments of `rateLimit` in Lua; those of a slot follow. */
const limitArgs = ({ count, windowMs, burst }: RateLimit): (string | number)[] =>
  burst === undefined
    ? [count, windowMs, 0, Number.MAX_SAFE_INTEGER, WINDOW_GRACE_MS]
    : [count, windowMs, burst, MAX_WAIT_MS, SPACED_GRACE_MS];

/** All arguments of `rateLimit` in Lua. */
export const slotArgs = (
  limit: RateLimit,
  { id, rank = 0, sinceMs, group = '', spare = 0 }: SlotRequest,
): (string | number)[] => [...limitArgs(limit), id, rank, Math.max(0, Math.round(sinceMs)), group, spare];

const takeScript = luaScript<number>(`${LUA_RATE_LIMIT} return (rateLimit(KEYS, ARGV).take())`);
const releaseScript = luaScript(`${LUA_RATE_LIMIT} return rateLimit(KEYS, ARGV).release()`);
const usageScript = luaScript<[number, number, number]>(
  `${LUA_RATE_LIMIT} return rateLimit(KEYS, ARGV).usage()`,
);
const freeInScript = luaScript<number>(`${LUA_RATE_LIMIT} return rateLimit(KEYS, ARGV).freeIn(ARGV[#ARGV])`);
const holdScript = luaScript(`${LUA_RATE_LIMIT} return rateLimit(KEYS, ARGV).hold(ARGV[#ARGV])`);

export function createRateLimitStore(redis: RedisClient) {
  return {
    /**
     * Takes a slot and returns 0, or takes a place in the line and returns in how many milliseconds to ask again.
     * Whoever does not ask again by then loses the place, and nobody waits for them.
     */
    takeSlot: (limit: RateLimit, request: SlotRequest): Promise<number> =>
      takeScript(redis, limitKeys(limit), slotArgs(limit, request)),
    /** Leaves the line. Without `burst` the slot of this `id` is free again too: its use certainly did not happen. */
    async releaseSlot(limit: RateLimit, id: string) {
      await releaseScript(redis, limitKeys(limit), slotArgs(limit, { id, sinceMs: 0 }));
    },
    /** After a refusal by the other side: no slot is given before `waitMs` have passed. */
    async hold(limit: RateLimit, waitMs: number) {
      await holdScript(redis, limitKeys(limit), [...limitArgs(limit), waitMs]);
    },
    /** Returns in how many milliseconds `wanted` slots will have come free, for whoever takes each at once. */
    freeInMs: (limit: RateLimit, wanted: number): Promise<number> =>
      freeInScript(redis, limitKeys(limit), [...limitArgs(limit), wanted]),
    async usage(limit: RateLimit): Promise<RateLimitUsage> {
      const [used, waiting, nextMs] = await usageScript(redis, limitKeys(limit), limitArgs(limit));
      const free = nextMs > 0 ? 0 : Math.max(0, (limit.burst ?? limit.count) - used);
      return { used, free, waiting, nextMs };
    },
  };
}
