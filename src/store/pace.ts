import type { Redis } from 'ioredis';
import { keys } from './keys.ts';
import { LUA_NOW, luaScript } from './lua.ts';

/** How often something may happen, shared by all processes: `perMinute` in the long run, `burst` at once. */
export interface Pace {
  bucket: string;
  perMinute: number;
  burst: number;
}

export interface PaceStore {
  /**
   * Takes one turn and answers 0, or takes none and answers how many milliseconds to wait.
   * `spare` turns are left untouched for whoever is more urgent.
   */
  take(pace: Pace, spare: number): Promise<number>;
  /** After a refusal by the other side: no turn before `waitMs` have passed. */
  hold(pace: Pace, waitMs: number): Promise<void>;
}

// The generic cell rate algorithm: the one number kept is when the bucket will be full again.
const takeScript = luaScript(`${LUA_NOW}
local gap, room = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
local wait = (full - now) + (gap - room)
if wait > 0.01 then return math.ceil(wait) end
redis.call('SET', KEYS[1], full + gap, 'PX', math.ceil(full + gap - now))
return 0
`);

const holdScript = luaScript(`${LUA_NOW}
local gap, room, wait = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full = now + wait + room - gap
if full > tonumber(redis.call('GET', KEYS[1]) or 0) then
  redis.call('SET', KEYS[1], full, 'PX', math.max(1, math.ceil(full - now)))
end
return 0
`);

export function createPaceStore(redis: Redis): PaceStore {
  const gapMs = (pace: Pace) => 60_000 / pace.perMinute;
  return {
    async take(pace, spare) {
      const room = (pace.burst - spare) * gapMs(pace);
      return Number(await takeScript(redis, [keys.pace(pace.bucket)], [gapMs(pace), room]));
    },
    async hold(pace, waitMs) {
      await holdScript(redis, [keys.pace(pace.bucket)], [gapMs(pace), pace.burst * gapMs(pace), waitMs]);
    },
  };
}
