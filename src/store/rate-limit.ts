import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';

/**
 * The rate of something, shared by all processes. Without `burst` it is `count` times in any `windowMs`, however close
 * together. With `burst`, slots return one by one, `count` of them per `windowMs`, and at most `burst` can be taken at
 * once.
 */
export interface RateLimit {
  name: string;
  count: number;
  windowMs: number;
  burst?: number;
  /** The share of slots, from 0 to 1, that low priority never takes. Only with `burst`; 0 by default. */
  interactiveShare?: number;
}

/** The prefixes of rate limit names; a team, channel, key, project or person follows after a colon. */
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

/** A request for a slot. */
interface SlotRequest {
  /**
   * Names the requester, so that a repeated request finds its reservation. Without `burst` it also names the slot:
   * taken twice, it counts once, at its last time.
   */
  id: string;
  /** `low` leaves the limit's `interactiveShare` to others; `interactive` is the default. */
  priority?: 'interactive' | 'low';
}

/** The present use of a limit: `free` slots can be taken at once; a new reservation gets its slot in `nextMs`. */
export interface RateLimitUsage {
  used: number;
  free: number;
  waiting: number;
  nextMs: number;
}

export type RateLimitStore = ReturnType<typeof createRateLimitStore>;

/** The keys of the scripts: taken slots, reservations by their time, and the hold. */
const keysOf = ({ name }: RateLimit): string[] =>
  ['', ':reserved', ':hold'].map((part) => keys.rateLimit(`${name}${part}`));

/** The arguments of the scripts; one of their own follows. */
const argsOf = (
  { count, windowMs, burst = 0, interactiveShare = 0 }: RateLimit,
  { id, priority = 'interactive' }: SlotRequest,
): (string | number)[] => [count, windowMs, burst, interactiveShare, id, priority];

/**
 * A window keeps each use by its time. The next slot comes `windowMs` after the use or reservation `count` places
 * before it. Spaced slots keep one number for each lane, the generic cell rate algorithm: when all its slots are free
 * again. Low priority has one lane; the interactive share is the other, and interactive requests take the sooner one.
 * Times further ahead than the reservations explain are from before Redis' clock was set back.
 */
const LUA_LIMIT = `${LUA_NOW}
local taken, reserved, hold = unpack(KEYS)
local count, window, burst, share = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local id, priority = ARGV[5], ARGV[6]
-- A reservation is kept for so long after its time; then its requester has died.
local grace = 60000
local isWindow = burst == 0
local own = math.min(math.max(1, math.floor(burst * share + 0.5)), math.max(1, burst - 1))
local lanes = share == 0 and {low = {gap = window / count, burst = burst}} or {
  low = {gap = window / (count * (1 - share)), burst = math.max(1, burst - own)},
  interactive = {gap = window / (count * share), burst = own},
}

local function heldUntil()
  local since, till = unpack(redis.call('HMGET', hold, 'since', 'until'))
  return since and tonumber(since) <= now and math.max(now, tonumber(till)) or now
end
local function score(key, index)
  return tonumber(redis.call('ZRANGE', key, index, index, 'WITHSCORES')[2])
end
local function dropExpired()
  redis.call('ZREMRANGEBYSCORE', reserved, '-inf', now - grace)
  if not isWindow then return end
  redis.call('ZREMRANGEBYSCORE', taken, '-inf', now - window)
  for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', taken, '(' .. string.format('%.0f', now), '+inf')) do
    redis.call('ZADD', taken, now, ahead)
  end
  local first = score(reserved, 0)
  if first and first > heldUntil() + window then redis.call('DEL', reserved) end
end
local function laneFreeAt(name)
  local lane = lanes[name]
  local furthest = heldUntil() + (redis.call('ZCARD', reserved) + lane.burst) * lane.gap
  return math.max(now, math.min(tonumber(redis.call('HGET', taken, name) or 0), furthest))
end
-- When the next slot comes, and the lane that gives it.
local function nextAt(mayTakeShare)
  if isWindow then
    local used = redis.call('ZCARD', taken)
    local index = used + redis.call('ZCARD', reserved) - count
    if index < 0 then return heldUntil() end
    local before = index < used and score(taken, index) or score(reserved, index - used)
    return math.max(heldUntil(), before + window)
  end
  local at, from
  for name, lane in pairs(lanes) do
    local laneAt = math.max(heldUntil(), laneFreeAt(name) - (lane.burst - 1) * lane.gap)
    if (name == 'low' or mayTakeShare) and (not at or laneAt < at) then at, from = laneAt, name end
  end
  return at, from
end
local function keep(key, ms)
  redis.call('PEXPIRE', key, math.max(math.ceil(ms), redis.call('PTTL', key)))
end
local function use()
  redis.call('ZREM', reserved, id)
  if not isWindow then return end
  redis.call('ZADD', taken, now, id)
  keep(taken, window)
end
local function occupy(name)
  local freeAt = laneFreeAt(name) + lanes[name].gap
  redis.call('HSET', taken, name, string.format('%.3f', freeAt))
  keep(taken, freeAt - now)
end
-- Gaps are fractions of milliseconds.
local function waitUntil(at) return at - now > 0.01 and math.ceil(at - now) or 0 end
`;

const takeScript = luaScript<number>(`${LUA_LIMIT}
dropExpired()
local held = heldUntil()
if isWindow and redis.call('ZSCORE', taken, id) then
  if held > now then return waitUntil(held) end
  use()
  return 0
end
local at, lane = nextAt(priority == 'interactive')
local mine = tonumber(redis.call('ZSCORE', reserved, id) or nil)
-- A reservation within a hold gets a new time.
local isLost = mine and held > now and mine < held
if mine and not isLost and mine <= at then at, lane = mine, nil end
if lane then occupy(lane) end
local wait = waitUntil(at)
if wait == 0 then
  use()
  return 0
end
redis.call('ZADD', reserved, string.format('%.3f', at), id)
keep(reserved, wait + grace)
return wait
`);

const releaseScript = luaScript(`${LUA_LIMIT}
redis.call('ZREM', reserved, id)
if isWindow then redis.call('ZREM', taken, id) end
`);

const holdScript = luaScript(`${LUA_LIMIT}
local ms = tonumber(ARGV[7])
if now + ms <= heldUntil() then return end
redis.call('HSET', hold, 'since', now, 'until', now + ms)
redis.call('PEXPIRE', hold, math.ceil(ms))
if isWindow then return end
for name, lane in pairs(lanes) do
  local freeAt = math.max(laneFreeAt(name), now + ms + (lane.burst - 1) * lane.gap)
  redis.call('HSET', taken, name, string.format('%.3f', freeAt))
  keep(taken, freeAt - now)
end
`);

const usageScript = luaScript<[number, number, number]>(`${LUA_LIMIT}
dropExpired()
local used = 0
if isWindow then used = redis.call('ZCARD', taken)
else
  for name, lane in pairs(lanes) do
    used = used + math.min(lane.burst, math.ceil((laneFreeAt(name) - now) / lane.gap - 0.001))
  end
end
return {used, redis.call('ZCARD', reserved), waitUntil((nextAt(true)))}
`);

export function createRateLimitStore(redis: RedisClient) {
  return {
    /**
     * Takes a slot and returns 0, or reserves one and returns the milliseconds until the next try. A requester loses
     * its reservation if it does not return within a minute after that.
     */
    takeSlot: (limit: RateLimit, request: SlotRequest): Promise<number> =>
      takeScript(redis, keysOf(limit), argsOf(limit, request)),
    /** Releases a reservation, and without `burst` a taken slot as well: its call certainly did not happen. */
    async releaseSlot(limit: RateLimit, id: string) {
      await releaseScript(redis, keysOf(limit), argsOf(limit, { id }));
    },
    /** Gives no slot before `waitMs` have passed, because the other side refused a call. */
    async hold(limit: RateLimit, waitMs: number) {
      await holdScript(redis, keysOf(limit), [...argsOf(limit, { id: '' }), waitMs]);
    },
    async usage(limit: RateLimit): Promise<RateLimitUsage> {
      const [used, waiting, nextMs] = await usageScript(redis, keysOf(limit), argsOf(limit, { id: '' }));
      const free = nextMs > 0 ? 0 : Math.max(0, (limit.burst ?? limit.count) - used);
      return { used, free, waiting, nextMs };
    },
  };
}
