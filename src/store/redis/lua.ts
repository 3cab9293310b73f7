import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

export type LuaScript<Answer> = (
  redis: Redis,
  keys: string[],
  args?: readonly (string | number)[],
) => Promise<Answer>;

/** Lua that sets the local `now` to the time of Redis, in whole milliseconds. */
export const LUA_NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Returns a Lua script as a function. It is called by its digest, and sent when Redis does not know it, as after a
 * restart. `Answer` is what the script returns: whole numbers, strings, arrays of them, and `null` for nil or false.
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
