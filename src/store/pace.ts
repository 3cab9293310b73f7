import type { Redis } from 'ioredis';
import { keys } from './keys.ts';
import { LUA_NOW, luaScript } from './lua.ts';

/** How often something may happen, shared by all processes: `perMinute` in the long run, `burst` at once. */
export interface Pace {
  bucket: string;
  perMinute: number;
  burst: number;
}

/** Somebody who wants a turn. Those who wait stand in line: the lower `rank` first, then the earlier `sinceMs`. */
export interface Turn {
  /** Names who asks, so that asking again keeps the place in the line. */
  of: string;
  /** A small whole number; 0 is the most urgent. */
  rank: number;
  sinceMs: number;
}

export interface PaceStore {
  /**
   * Takes a turn and answers 0, or takes a place in the line and answers in how many milliseconds to ask again.
   * Whoever does not ask again by then loses the place, and nobody waits for them.
   */
  take(pace: Pace, turn: Turn): Promise<number>;
  /** After a refusal by the other side: no turn before `waitMs` have passed. */
  hold(pace: Pace, waitMs: number): Promise<void>;
  /** How much of it is in use; changes nothing. */
  use(pace: Pace): Promise<PaceUse>;
}

/** `free` turns can be taken at once, `waiting` stand in line, and the next turn is free in `nextMs`. */
export interface PaceUse {
  free: number;
  waiting: number;
  nextMs: number;
}

/** Nobody is sent away for longer: meanwhile they may have become more urgent. */
const LONGEST_MS = 5000;

/** Somebody who asks again later than they were told, by no more than this, still has the place. */
const LATE_MS = 1000;

/** Gaps are fractions of milliseconds; a turn is free when all but this much of it is. */
const ROUNDING = 0.001;

/** Above every time in milliseconds, so that a rank outweighs all waiting. */
const RANK = 1e14;

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

// The turns that are free belong to the first in the line; everybody else is told when those ahead will have had theirs.
const takeScript = luaScript(`${LUA_FULL}
local bucket, line, gone, hold = unpack(KEYS)
local gap, burst, of, place = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local longest, late = tonumber(ARGV[5]), tonumber(ARGV[6])
local function leave(from, to)
  for _, left in ipairs(redis.call('ZRANGEBYSCORE', gone, from, to)) do
    redis.call('ZREM', line, left)
    redis.call('ZREM', gone, left)
  end
end
leave('-inf', now)
leave(now + longest + late + 1, '+inf')
redis.call('ZADD', line, 'LT', place, of)
local full = fullAt(bucket, hold, burst * gap)
local wait = full - now + (redis.call('ZRANK', line, of) + 1 - burst) * gap
if wait > 0.01 then
  wait = math.min(math.ceil(wait), longest)
  redis.call('ZADD', gone, now + wait + late, of)
  redis.call('PEXPIRE', line, longest + late)
  redis.call('PEXPIRE', gone, longest + late)
  return wait
end
redis.call('ZREM', line, of)
redis.call('ZREM', gone, of)
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

const useScript = luaScript(`${LUA_FULL}
local full = fullAt(KEYS[1], KEYS[4], tonumber(ARGV[1]))
local left = redis.call('ZCOUNT', KEYS[3], '-inf', now)
return {tostring(full - now), redis.call('ZCARD', KEYS[2]) - left}
`);

/** The bucket, who stands in line for it, until when each of those is waited for, and the hold. */
const namesOf = (bucket: string) =>
  [bucket, `${bucket}:line`, `${bucket}:gone`, `${bucket}:hold`].map(keys.pace);

export function createPaceStore(redis: Redis): PaceStore {
  const gapMs = (pace: Pace) => 60_000 / pace.perMinute;
  const roomMs = (pace: Pace) => pace.burst * gapMs(pace);
  return {
    async take(pace, { of, rank, sinceMs }) {
      const { bucket, burst } = pace;
      const place = rank * RANK + Math.round(sinceMs);
      const args = [gapMs(pace), burst, of, place, LONGEST_MS, LATE_MS];
      return Number(await takeScript(redis, namesOf(bucket), args));
    },
    async use(pace) {
      const used = await useScript(redis, namesOf(pace.bucket), [roomMs(pace)]);
      const [untilFullMs, waiting] = used as [string, number];
      const taken = Number(untilFullMs) / gapMs(pace);
      return {
        free: Math.max(0, Math.floor(pace.burst - taken + ROUNDING)),
        waiting: Math.max(0, waiting),
        nextMs: Math.max(0, Math.ceil((taken + 1 - pace.burst - ROUNDING) * gapMs(pace))),
      };
    },
    async hold(pace, waitMs) {
      const [bucket = '', , , hold = ''] = namesOf(pace.bucket);
      await holdScript(redis, [bucket, hold], [gapMs(pace), roomMs(pace), waitMs]);
    },
  };
}
