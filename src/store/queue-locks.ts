import { PREFIX } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { luaScript } from './redis/lua.ts';

// A time to live above its maximum was set before Redis' clock was set back.
const shortenScript = luaScript(`
local check, lock = tonumber(ARGV[1]), tonumber(ARGV[2])
if redis.call('PTTL', KEYS[1] .. 'stalled-check') > check then redis.call('DEL', KEYS[1] .. 'stalled-check') end
for _, id in ipairs(redis.call('LRANGE', KEYS[1] .. 'active', 0, -1)) do
  local key = KEYS[1] .. id .. ':lock'
  if redis.call('PTTL', key) > lock then redis.call('PEXPIRE', key, lock) end
end
`);

/**
 * Shortens those BullMQ keys of a queue that would live for hours after Redis' clock was ahead for a moment: the locks
 * of jobs, and the mark of the last check for lost locks.
 */
export async function shortenLocks(
  redis: RedisClient,
  queue: string,
  { stalledMs, lockMs }: { stalledMs: number; lockMs: number },
): Promise<void> {
  await shortenScript(redis, [`${PREFIX}:${queue}:`], [stalledMs, lockMs]);
}
