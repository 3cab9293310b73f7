import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';

/**
 * Our messages at the top level of a conversation. A reply may arrive before the run knows its thread, and not every
 * event says whose message it answers.
 */
export type OwnPostStore = ReturnType<typeof createOwnPostStore>;

const LUA_REMEMBER = `${LUA_NOW}
local function remember(key, member, forMs)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - forMs)
  redis.call('ZADD', key, now, member)
  redis.call('PEXPIRE', key, forMs)
end
`;

const postingScript = luaScript(`${LUA_REMEMBER}
remember(KEYS[1], ARGV[1], ARGV[2])
`);

const postedScript = luaScript(`${LUA_REMEMBER}
redis.call('ZREM', KEYS[1], ARGV[1])
remember(KEYS[2], ARGV[2], ARGV[3])
`);

/** Whether the message at `ts` is ours, or may be: `posting` and `posted` are keys of its conversation. */
export const LUA_MAY_BE_OURS = `
local function mayBeOurs(posting, posted, ts)
  if redis.call('ZSCORE', posted, ts) then return true end
  return redis.call('ZCOUNT', posting, now - ${retention.earlyMs}, '+inf') > 0
end
`;

export function createOwnPostStore(redis: RedisClient) {
  return {
    /** A message is about to be posted; until it is there, every new thread of the conversation may be its own. */
    async markPosting(teamId: string, channel: string, messageKey: string) {
      await postingScript(redis, [keys.posting(teamId, channel)], [messageKey, retention.earlyMs]);
    },
    /** The message is posted. */
    async markPosted(teamId: string, channel: string, messageKey: string, ts: string) {
      const touched = [keys.posting(teamId, channel), keys.posted(teamId, channel)];
      await postedScript(redis, touched, [messageKey, ts, retention.runMs]);
    },
    /** Whether one of our messages was posted there, as far as is remembered. */
    async isKnownIn(teamId: string, channel: string): Promise<boolean> {
      return (await redis.exists(keys.posted(teamId, channel))) === 1;
    },
  };
}
