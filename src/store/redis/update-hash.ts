import type { RedisClient } from './client.ts';
import { lastingScript } from './lua.ts';

/** Values by field. An `undefined` field is missing, or is to be deleted. */
export type HashFields = Record<string, string | number | boolean | undefined>;

// Two counts of arguments, then fields and values that were read (empty for a missing one), fields and values to set,
// and fields to delete.
const updateScript = lastingScript<0 | 1>(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local read = 2 + tonumber(ARGV[1])
local set = read + tonumber(ARGV[2])
for i = 3, read, 2 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i + 1] then return 0 end
end
if set > read then redis.call('HSET', KEYS[1], unpack(ARGV, read + 1, set)) end
if #ARGV > set then redis.call('HDEL', KEYS[1], unpack(ARGV, set + 1)) end
return 1
`);

/**
 * Changes fields of a hash, unless it has expired: a write would recreate it without a time to live. With `read`, only
 * if those fields still have these values. Returns whether it did.
 */
export async function updateHash(
  redis: RedisClient,
  key: string,
  changes: HashFields,
  read: HashFields = {},
): Promise<boolean> {
  const known = Object.entries(read).flatMap(([name, value]) => [name, String(value ?? '')]);
  const set = Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? [] : [name, String(value)],
  );
  const deleted = Object.keys(changes).filter((name) => changes[name] === undefined);
  return (await updateScript(redis, [key], [known.length, set.length, ...known, ...set, ...deleted])) === 1;
}
