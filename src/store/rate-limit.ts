import { Later } from '../runtime/later.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';

/** At most `count` of something in any `windowMs`, shared by all processes. */
export interface RateLimit {
  name: string;
  count: number;
  windowMs: number;
  /** The share of slots, from 0 to 1, that low priority never takes; 0 by default. */
  interactiveShare?: number;
  /** A slot belongs to the id of its request: taken twice, it counts once, at its last time. */
  perId?: boolean;
}

/** The prefixes of rate limit names; a team, channel, key, project or person follows after a colon. */
export const limitNames = [
  'post',
  'edit',
  'delete',
  'info',
  'history',
  'replies',
  'digests',
  'home',
  'export-status',
  'agent-status',
  'site-status',
  'previews',
  'site-updates',
  'deployments',
  'analytics',
  'follow-ups',
  'agent-jobs',
  'agent-turns',
  'git-host',
] as const;

export const limitNameOf = ({ name }: Pick<RateLimit, 'name'>): string => name.split(':', 1)[0] ?? '';

/** `id` names the requester, so that a repeated request finds its reservation. */
interface SlotRequest {
  id: string;
  /** `low` leaves the limit's `interactiveShare` to others; `interactive` is the default. */
  priority?: 'interactive' | 'low';
}

export type RateLimitStore = ReturnType<typeof createRateLimitStore>;

/** The present use of a limit. */
export type RateLimitUsage = Awaited<ReturnType<RateLimitStore['usage']>>;

/** The keys of the scripts: the hold, and a lane for each priority. */
const keysOf = ({ name }: RateLimit): string[] =>
  [':hold', '', ':interactive'].map((part) => keys.rateLimit(`${name}${part}`));

/** The arguments of the scripts; one of their own follows. */
const argsOf = (
  { count, windowMs, interactiveShare = 0, perId = false }: RateLimit,
  { id = '', priority = 'interactive' }: Partial<SlotRequest> = {},
): (string | number)[] => [count, windowMs, interactiveShare, perId ? 1 : 0, id, priority];

/**
 * A lane keeps each use by its time, and each reservation by its future time. A new one comes a window after the one
 * `count` places before it. Low priority has one lane; the interactive share is the other, and interactive requests
 * take the sooner one. A reservation whose requester has died counts as a use.
 */
const LUA_LIMIT = `${LUA_NOW}
local hold = KEYS[1]
local count, window, share = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local perId, id, priority = ARGV[4] == '1', ARGV[5], ARGV[6]
local heldSince, heldUntil = unpack(redis.call('HMGET', hold, 'since', 'until'))
-- A hold that began in the future is from before Redis' clock was set back.
local from = heldSince and tonumber(heldSince) <= now and math.max(now, tonumber(heldUntil)) or now
local own = share == 0 and 0 or math.min(math.max(1, math.floor(count * share + 0.5)), math.max(1, count - 1))
local lanes = {{key = KEYS[2], count = math.max(1, count - own)}}
lanes[1].window = lanes[1].count * window / (count * (1 - share))
if own > 0 then lanes[2] = {key = KEYS[3], count = own, window = own * window / (count * share)} end

local function timeAt(lane, index)
  return tonumber(redis.call('ZRANGE', lane.key, index, index, 'WITHSCORES')[2])
end
for _, lane in ipairs(lanes) do
  -- A late requester finds its reservation for a minute.
  redis.call('ZREMRANGEBYSCORE', lane.key, '-inf', now - lane.window - 60000)
  lane.ahead = redis.call('ZCOUNT', lane.key, '(' .. now, '+inf')
  -- Times further ahead than the number of reservations explains are from before Redis' clock was set back.
  local furthest = from + (lane.ahead / lane.count + 1) * lane.window
  redis.call('ZREMRANGEBYSCORE', lane.key, string.format('(%.3f', furthest), '+inf')
end
-- When the next slot comes, and the lane that gives it.
local function nextSlot(mayTakeShare)
  local at, lane
  for place, one in ipairs(mayTakeShare and lanes or {lanes[1]}) do
    local taken = redis.call('ZCARD', one.key)
    local free = taken < one.count and from or math.max(from, timeAt(one, taken - one.count) + one.window)
    if not at or free < at then at, lane = free, one end
  end
  return at, lane
end
local function waitUntil(at) return math.max(0, math.ceil(at - now - 0.01)) end
`;

const takeScript = luaScript<number>(`${LUA_LIMIT}
local mine, mineIn
for _, lane in ipairs(lanes) do
  local at = tonumber(redis.call('ZSCORE', lane.key, id) or nil)
  if at then mine, mineIn = at, lane end
  redis.call('ZREM', lane.key, id)
end
local at, lane = nextSlot(priority == 'interactive')
-- A reservation within a hold gets a new time.
if mine and mine <= at and (from == now or mine >= from) then at, lane = mine, mineIn end
local wait = waitUntil(at)
local member, score = id, at
if wait == 0 and perId then score = now
elseif wait == 0 then
  member = id .. ' ' .. time[1] .. time[2]
  -- The lane keeps its pace if requesters come a little late.
  score = math.max(at, now - 1000)
end
redis.call('ZADD', lane.key, string.format('%.3f', score), member)
redis.call('PEXPIRE', lane.key, math.ceil(math.max(redis.call('PTTL', lane.key), wait + lane.window + 60000)))
return wait
`);

const releaseScript = luaScript(`${LUA_LIMIT}
for _, lane in ipairs(lanes) do redis.call('ZREM', lane.key, id) end
`);

const holdScript = luaScript(`${LUA_LIMIT}
local ms = math.ceil(tonumber(ARGV[7]))
if now + ms <= from then return end
redis.call('HSET', hold, 'since', now, 'until', now + ms)
redis.call('PEXPIRE', hold, ms)
`);

const usageScript = luaScript<[number, number, number, number]>(`${LUA_LIMIT}
local used, free, waiting = 0, 0, 0
for _, lane in ipairs(lanes) do
  local taken = redis.call('ZCOUNT', lane.key, '(' .. now - lane.window, now)
  used, waiting, free = used + taken, waiting + lane.ahead, free + math.max(0, lane.count - taken)
end
return {used, free, waiting, waitUntil((nextSlot(true)))}
`);

export type CountSlot = (limit: RateLimit, outcome: 'taken' | 'waited' | 'held') => void;

/** `count` is called for each answer about a slot. */
export function createRateLimitStore(redis: RedisClient, count: CountSlot = () => {}) {
  /** Takes a slot and returns 0, or reserves one and returns the milliseconds until the next try. */
  async function takeSlot(limit: RateLimit, request: SlotRequest): Promise<number> {
    const waitMs = await takeScript(redis, keysOf(limit), argsOf(limit, request));
    count(limit, waitMs > 0 ? 'waited' : 'taken');
    return waitMs;
  }

  return {
    takeSlot,
    /** Takes a slot. Throws `Later` until one is free. */
    async awaitSlot(limit: RateLimit, request: SlotRequest): Promise<void> {
      const waitMs = await takeSlot(limit, request);
      if (waitMs > 0) throw new Later(waitMs);
    },
    /** Releases a reservation, and with `perId` a taken slot as well: its call certainly did not happen. */
    async releaseSlot(limit: RateLimit, id: string) {
      await releaseScript(redis, keysOf(limit), argsOf(limit, { id }));
    },
    /** Gives no slot before `waitMs` have passed, because the other side refused a call. */
    async hold(limit: RateLimit, waitMs: number) {
      count(limit, 'held');
      await holdScript(redis, keysOf(limit), [...argsOf(limit), waitMs]);
    },
    /** `free` slots can be taken at once; a new reservation gets its slot in `nextMs`. */
    async usage(limit: RateLimit) {
      const [used, free, waiting, nextMs] = await usageScript(redis, keysOf(limit), argsOf(limit));
      return { used, free: nextMs > 0 ? 0 : free, waiting, nextMs };
    },
  };
}
