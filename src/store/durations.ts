import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { luaScript } from './redis/lua.ts';

/** How many durations of one name are kept, those of the latest ends. */
export const MAX_DURATIONS = 20;

/** Adds one unless it is there, and drops those that ended first. */
const add = luaScript(`
local key, id, ended, told, most, lives = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
redis.call('HSETNX', key, id, ended .. ' ' .. told)
redis.call('PEXPIRE', key, lives)
while redis.call('HLEN', key) > most do
  local all = redis.call('HGETALL', key)
  local oldest, oldestEnded
  for at = 1, #all, 2 do
    local one = tonumber(string.match(all[at + 1], '^%d+')) or 0
    if oldest == nil or one < oldestEnded then oldest, oldestEnded = all[at], one end
  end
  redis.call('HDEL', key, oldest)
end
return 1
`);

/** How long a job took, in milliseconds, and whether it was seen to tell its progress in percent. */
export interface Duration {
  tookMs: number;
  inPercent: boolean;
}

/** How long the last jobs of a name took. */
export type DurationStore = ReturnType<typeof createDurationStore>;

export const createDurationStore = (redis: RedisClient) => ({
  /** Safe to repeat: a job counts once, with what was said of it first. Both times are whole milliseconds. */
  async add(name: string, jobId: string, { endedAtMs, tookMs, inPercent }: Duration & { endedAtMs: number }) {
    const told = inPercent ? `${tookMs} %` : tookMs;
    await add(redis, [keys.durations(name)], [jobId, endedAtMs, told, MAX_DURATIONS, retention.durationsMs]);
  },

  /** Returns the durations, at most `MAX_DURATIONS`, in any order. */
  async of(name: string): Promise<Duration[]> {
    const values = await redis.hvals(keys.durations(name));
    return values.flatMap((value) => {
      const [, took, unit] = value.split(' ');
      const tookMs = Number(took);
      return Number.isFinite(tookMs) && tookMs > 0 ? [{ tookMs, inPercent: unit === '%' }] : [];
    });
  },
});
