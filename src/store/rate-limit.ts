import type { Redis } from 'ioredis';
import { keys } from './keys.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';

/** How often something may happen, shared by all processes: `perMinute` in the long run, `burst` at once. */
export interface RateLimit {
  bucket: string;
  perMinute: number;
  burst: number;
}

/**
 * Somebody who wants a turn. Those who wait stand in line: the lower `rank` first, then one of each person's at a time,
 * then the earlier `sinceMs`.
 */
export interface SlotRequest {
  /** Names who asks, so that asking again keeps the place in the line. */
  id: string;
  /** A small whole number; 0 is the most urgent. */
  rank: number;
  sinceMs: number;
  /** The id of the person it is for, without blanks; what has none is for somebody of its own. */
  group?: string | undefined;
}

export interface RateLimitStore {
  /**
   * Takes a turn and answers 0, or takes a place in the line and answers in how many milliseconds to ask again.
   * Whoever does not ask again by then loses the place, and nobody waits for them.
   */
  takeSlot(limit: RateLimit, request: SlotRequest): Promise<number>;
  /** After a refusal by the other side: no turn before `waitMs` have passed. */
  hold(limit: RateLimit, waitMs: number): Promise<void>;
  /** How much of it is in use; changes nothing. */
  usage(limit: RateLimit): Promise<RateLimitUsage>;
}

/** `free` turns can be taken at once, `waiting` stand in line, and the next turn is free in `nextMs`. */
export interface RateLimitUsage {
  free: number;
  waiting: number;
  nextMs: number;
}

/** Nobody is sent away for longer: meanwhile they may have become more urgent. */
const MAX_WAIT_MS = 5000;

/** Somebody who asks again later than they were told, by no more than this, still has the place. */
const SLOT_GRACE_MS = 1000;

/** Gaps are fractions of milliseconds; a turn is free when all but this much of it is. */
const ROUNDING = 0.001;

// The generic cell rate algorithm: the one number kept is when the bucket will be full again. After a refusal by the
// other side, that comes from the hold. Times further ahead than can be were kept before Redis' clock was set back.
const LUA_FULL = `${LUA_NOW}
local function fullAt(bucket, hold, room)
  local full = math.min(tonumber(redis.call('GET', bucket) or 0), now + room)
  local since, held = unpack(redis.call('HMGET', hold, 'since', 'full'))
  if since and tonumber(since) <= now then full = math.max(full, tonumber(held)) end
  return math.max(now, full)
end
`;

// Who waits is in `order`, by rank, round and time since when. A person's first goes in the round that is served now, or
// in the next one if they have just been served; their others in the rounds after it, by their time. So one person's
// many hold up nobody else's. `mine` has each person's, and `places` what stands in the two of each who waits.
const LUA_LINE = `
local function member(rank, middle, since, of)
  return string.format('%02d %s %015.0f %s', rank, middle, since, of)
end
local function inOrder(place, of)
  return member(place.rank, string.format('%010.0f', place.round), place.since, of)
end
local function placeOf(places, of)
  local kept = redis.call('HGET', places, of)
  return kept and cjson.decode(kept)
end
local function leave(order, mine, places, till, of)
  local place = placeOf(places, of)
  if place then
    redis.call('ZREM', order, inOrder(place, of))
    redis.call('ZREM', mine, member(place.rank, place.by, place.since, of))
    redis.call('HDEL', places, of)
  end
  redis.call('ZREM', till, of)
end
`;

// The turns that are free belong to the first in the line; everybody else is told when those ahead will have had theirs.
const takeSlotScript = luaScript(`${LUA_FULL}${LUA_LINE}
local bucket, order, till, hold, mine, places, rounds = unpack(KEYS)
local gap, burst, of, rank, since = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local by, longest, late = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local function leaveAll(from, to)
  for _, left in ipairs(redis.call('ZRANGEBYSCORE', till, from, to)) do leave(order, mine, places, till, left) end
end
leaveAll('-inf', now)
leaveAll(now + longest + late + 1, '+inf')
local before = placeOf(places, of)
if before then
  if before.rank < rank or (before.rank == rank and before.since < since) then rank, since = before.rank, before.since end
  leave(order, mine, places, till, of)
end
local round = tonumber(redis.call('HGET', rounds, rank) or 0)
if by ~= '' then
  local last = redis.call('HGET', rounds, rank .. ' ' .. by)
  if last then round = math.max(round, last + 1) end
  local own = member(rank, by, since, of)
  redis.call('ZADD', mine, 0, own)
  round = round + redis.call('ZLEXCOUNT', mine, string.format('[%02d %s ', rank, by), '(' .. own)
end
local place = {rank = rank, round = round, since = since, by = by}
redis.call('ZADD', order, 0, inOrder(place, of))
local full = fullAt(bucket, hold, burst * gap)
local wait = full - now + (redis.call('ZRANK', order, inOrder(place, of)) + 1 - burst) * gap
redis.call('HSET', places, of, cjson.encode(place))
if wait > 0.01 then
  wait = math.min(math.ceil(wait), longest)
  redis.call('ZADD', till, now + wait + late, of)
  for _, key in ipairs({order, till, mine, places, rounds}) do redis.call('PEXPIRE', key, longest + late) end
  return wait
end
leave(order, mine, places, till, of)
redis.call('HSET', rounds, rank, math.max(round, tonumber(redis.call('HGET', rounds, rank) or 0)))
if by ~= '' then redis.call('HSET', rounds, rank .. ' ' .. by, round) end
redis.call('PEXPIRE', rounds, longest + late)
redis.call('SET', bucket, full + gap, 'PX', math.ceil(full + gap - now))
return 0
`);

const holdScript = luaScript(`${LUA_FULL}
local gap, room, wait = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full = now + wait + room - gap
if full > fullAt(KEYS[1], KEYS[2], room) then
  redis.call('HSET', KEYS[2], 'since', now, 'full', full)
  redis.call('PEXPIRE', KEYS[2], math.max(1, math.ceil(full - now)))
end
return 0
`);

const usageScript = luaScript(`${LUA_FULL}
local full = fullAt(KEYS[1], KEYS[4], tonumber(ARGV[1]))
local left = redis.call('ZCOUNT', KEYS[3], '-inf', now)
return {tostring(full - now), redis.call('ZCARD', KEYS[2]) - left}
`);

/**
 * The bucket, who stands in line for it, until when each of those is waited for, the hold, and what the line is made
 * from. Older processes have a line of their own, `:line` and `:gone`, for the same bucket.
 */
const rateLimitKeys = (bucket: string) =>
  ['', ':order', ':until', ':hold', ':mine', ':places', ':rounds'].map((part) =>
    keys.pace(`${bucket}${part}`),
  );

export function createRateLimitStore(redis: Redis): RateLimitStore {
  const gapMs = (limit: RateLimit) => 60_000 / limit.perMinute;
  const burstMs = (limit: RateLimit) => limit.burst * gapMs(limit);
  return {
    async takeSlot(limit, { id, rank, sinceMs, group = '' }) {
      const { bucket, burst } = limit;
      const args = [
        gapMs(limit),
        burst,
        id,
        rank,
        Math.max(0, Math.round(sinceMs)),
        group,
        MAX_WAIT_MS,
        SLOT_GRACE_MS,
      ];
      return Number(await takeSlotScript(redis, rateLimitKeys(bucket), args));
    },
    async usage(limit) {
      const used = await usageScript(redis, rateLimitKeys(limit.bucket), [burstMs(limit)]);
      const [untilFullMs, waiting] = used as [string, number];
      const taken = Number(untilFullMs) / gapMs(limit);
      return {
        free: Math.max(0, Math.floor(limit.burst - taken + ROUNDING)),
        waiting: Math.max(0, waiting),
        nextMs: Math.max(0, Math.ceil((taken + 1 - limit.burst - ROUNDING) * gapMs(limit))),
      };
    },
    async hold(limit, waitMs) {
      const [bucket = '', , , hold = ''] = rateLimitKeys(limit.bucket);
      await holdScript(redis, [bucket, hold], [gapMs(limit), burstMs(limit), waitMs]);
    },
  };
}
