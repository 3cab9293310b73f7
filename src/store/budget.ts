import type { Redis } from 'ioredis';
import { keys } from './keys.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';

/** So many uses in any past hour, shared by all processes; at least one. */
export interface HourlyLimit {
  name: string;
  perHour: number;
}

/** A use of a budget. `of` names it: taken twice it counts once. Who waits stands in line by `sinceMs`. */
export interface HourlySlotRequest {
  hourlyLimit: HourlyLimit;
  id: string;
  sinceMs: number;
}

export interface HourlyLimitStore {
  /** How much of it is used and how many wait; `nextMs` until the first in the line may have one, 0 for now. */
  usage(limit: HourlyLimit): Promise<{ used: number; waiting: number; nextMs: number }>;
  /** The other side refused: no use before `waitMs` have passed. */
  hold(limit: HourlyLimit, waitMs: number): Promise<void>;
  /** The use certainly did not happen, or is not wanted any more: it is free, and so is the place in the line. */
  releaseSlot(limit: HourlyLimit, id: string): Promise<void>;
}

export const HOUR_MS = 3_600_000;

/** Somebody who asks again later than they were told, by no more than this, still has the place in the line. */
const HOURLY_GRACE_MS = 60_000;

// Those who left the line are taken out of it, and uses that are past. Uses ahead of now were kept before Redis' clock
// was set back.
const LUA_HOURLY_SLOTS = `${LUA_NOW}
local function usesOf(uses, line, gone, window)
  redis.call('ZREMRANGEBYSCORE', uses, '-inf', now - window)
  for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', uses, '(' .. string.format('%.0f', now), '+inf')) do
    redis.call('ZADD', uses, now, ahead)
  end
  for _, left in ipairs(redis.call('ZRANGEBYSCORE', gone, '-inf', now)) do
    redis.call('ZREM', line, left)
    redis.call('ZREM', gone, left)
  end
  return redis.call('ZCARD', uses)
end

local function waitOf(rank, uses, hold, used, perHour, window)
  local held = math.max(0, redis.call('PTTL', hold))
  local ends, hours = used - perHour + rank, 1
  while ends >= used do ends, hours = ends - perHour, hours + 1 end
  -- Uses that are free by now are taken when the hold is over.
  if ends < 0 then return held + (hours - 1) * window end
  local from = tonumber(redis.call('ZRANGE', uses, ends, ends, 'WITHSCORES')[2])
  return math.max(held, from + hours * window - now)
end
`;

/**
 * `spend(names, perHour, window, late, of, since)` takes a use and answers 0, or takes a place in the line and answers
 * in how many milliseconds to ask again, and 1 if that is for the hold, else 0. See `budgetKeys` and `spendArgs`.
 * Brings `now` along.
 */
export const LUA_TAKE_HOURLY_SLOT = `${LUA_HOURLY_SLOTS}
local function spend(names, perHour, window, late, of, since)
  local uses, line, gone, hold = unpack(names)
  local used = usesOf(uses, line, gone, window)
  local held = math.max(0, redis.call('PTTL', hold))
  local wait = held
  if not redis.call('ZSCORE', uses, of) then
    redis.call('ZADD', line, 'LT', since, of)
    wait = waitOf(redis.call('ZRANK', line, of), uses, hold, used, tonumber(perHour), window)
  end
  if wait > 0 then
    redis.call('ZADD', gone, now + wait + late, of)
    for _, key in ipairs({line, gone}) do
      redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), wait + late))
    end
    return wait, wait == held and 1 or 0
  end
  redis.call('ZREM', line, of)
  redis.call('ZREM', gone, of)
  redis.call('ZADD', uses, now, of)
  redis.call('PEXPIRE', uses, window)
  return 0
end
`;

const hourlyUsageScript = luaScript(`${LUA_HOURLY_SLOTS}
local uses, line, gone, hold = unpack(KEYS)
local used = usesOf(uses, line, gone, ARGV[2])
return {used, redis.call('ZCARD', line), waitOf(0, uses, hold, used, tonumber(ARGV[1]), ARGV[2])}
`);

const hourlyHoldScript = luaScript(`
if tonumber(ARGV[1]) > redis.call('PTTL', KEYS[1]) then redis.call('SET', KEYS[1], 1, 'PX', ARGV[1]) end
return 1
`);

/** The uses by their time, who stands in line, until when each of those is waited for, and the hold. */
export const hourlyLimitKeys = ({ name }: HourlyLimit): string[] =>
  [name, `${name}:line`, `${name}:gone`, `${name}:hold`].map(keys.budget);

export const hourlySlotArgs = (
  { hourlyLimit, id, sinceMs }: HourlySlotRequest,
  windowMs: number,
): (string | number)[] => [hourlyLimit.perHour, windowMs, HOURLY_GRACE_MS, id, Math.round(sinceMs)];

/** `windowMs` is the hour. */
export function createHourlyLimitStore(redis: Redis, windowMs = HOUR_MS): HourlyLimitStore {
  return {
    async usage(limit) {
      const answer = await hourlyUsageScript(redis, hourlyLimitKeys(limit), [limit.perHour, windowMs]);
      const [used, waiting, nextMs] = answer as [number, number, number];
      return { used, waiting, nextMs };
    },
    async hold(limit, waitMs) {
      const [, , , hold = ''] = hourlyLimitKeys(limit);
      const ms = Math.ceil(waitMs);
      if (ms > 0) await hourlyHoldScript(redis, [hold], [ms]);
    },
    async releaseSlot(limit, id) {
      const [uses = '', line = '', gone = ''] = hourlyLimitKeys(limit);
      await Promise.all([uses, line, gone].map((key) => redis.zrem(key, id)));
    },
  };
}
