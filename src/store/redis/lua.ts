import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

export type LuaScript<Answer> = (
  redis: Redis,
  keys: string[],
  args?: readonly (string | number)[],
) => Promise<Answer>;

/** The current time inside a script, in whole milliseconds, as the local `now`. */
export const LUA_NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * A Lua script that is sent once and then called by its digest; Redis forgets scripts when it restarts. `Answer` is
 * what it returns: whole numbers, strings, arrays of them, and `null` for nil or false.
 */
export function luaScript<Answer = unknown>(source: string): LuaScript<Answer> {
  const digest = createHash('sha1').update(source).digest('hex');
  return async (redis, keys, args = []) => {
    try {
      return (await redis.evalsha(digest, keys.length, ...keys, ...args)) as Answer;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return (await redis.eval(source, keys.length, ...keys, ...args)) as Answer;
    }
  };
}
