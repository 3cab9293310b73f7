import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Single values by name. All but the channel ids expire. */
export type ValueStores = ReturnType<typeof createValueStores>;

export function createValueStores(redis: RedisClient) {
  const read = async (key: string): Promise<string | undefined> => (await redis.get(key)) ?? undefined;

  return {
    /**
     * Presigned links. Each link has a name of its own, and Redis deletes it when it expires; messages and records
     * contain only the name.
     */
    links: {
      async put(name: string, url: string, endsAtMs: number) {
        await redis.set(keys.link(name), url, 'PXAT', endsAtMs);
      },
      get: (name: string) => read(keys.link(name)),
    },

    /** Response URLs for ephemeral answers, by request, as long as Slack accepts them. They are secrets. */
    responseUrls: {
      find: (runId: string) => read(keys.responseUrl(runId)),
    },

    people: {
      /** Returns the direct message conversation between the bot and a person. */
      directMessage: (teamId: string, userId: string) => read(keys.directMessage(teamId, userId)),
      async setDirectMessage(teamId: string, userId: string, channel: string) {
        await redis.set(keys.directMessage(teamId, userId), channel, 'PX', retention.directMessageMs);
      },
      async markHomeOpened(teamId: string, userId: string) {
        await redis.set(keys.homeOpened(teamId, userId), '1', 'PX', retention.homeOpenedMs);
      },
      /** Returns those of these people who have opened their Home tab: only their tabs are refreshed. */
      async whoOpenedHome(teamId: string, userIds: readonly string[]): Promise<string[]> {
        if (userIds.length === 0) return [];
        const opened = await redis.mget(userIds.map((userId) => keys.homeOpened(teamId, userId)));
        return userIds.filter((_, index) => opened[index] !== null);
      },
    },

    /** Slack's present ids of channels whose ids have changed, by Docket's id of each. */
    channelIds: {
      load: (teamId: string): Promise<Record<string, string>> => redis.hgetall(keys.channelIds(teamId)),
      /** `known` is Docket's id of the channel. */
      async change(teamId: string, known: string, present: string) {
        if (known === present) await redis.hdel(keys.channelIds(teamId), known);
        else await redis.hset(keys.channelIds(teamId), known, present);
      },
    },
  };
}
