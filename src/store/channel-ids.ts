import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Slack's present ids of channels whose ids have changed, by Docket's id of each. */
export type ChannelIdStore = ReturnType<typeof createChannelIdStore>;

export const createChannelIdStore = (redis: RedisClient) => ({
  load: (teamId: string): Promise<Record<string, string>> => redis.hgetall(keys.channelIds(teamId)),
  /** `known` is Docket's id of the channel. */
  async change(teamId: string, known: string, present: string) {
    if (known === present) await redis.hdel(keys.channelIds(teamId), known);
    else await redis.hset(keys.channelIds(teamId), known, present);
  },
});
