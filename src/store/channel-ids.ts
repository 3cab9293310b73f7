import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** What Slack calls the channels now whose ids have changed, by the id that Docket knows each by. */
export type ChannelIdStore = ReturnType<typeof createChannelIdStore>;

export const createChannelIdStore = (redis: RedisClient) => ({
  load: (teamId: string): Promise<Record<string, string>> => redis.hgetall(keys.channelIds(teamId)),
  /** `known` is the id that Docket knows the channel by. */
  async change(teamId: string, known: string, present: string) {
    if (known === present) await redis.hdel(keys.channelIds(teamId), known);
    else await redis.hset(keys.channelIds(teamId), known, present);
  },
});
