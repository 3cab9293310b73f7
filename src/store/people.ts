import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** The direct message conversations between the bot and people. */
export type PeopleStore = ReturnType<typeof createPeopleStore>;

export function createPeopleStore(redis: RedisClient) {
  return {
    async directMessage(teamId: string, userId: string): Promise<string | undefined> {
      return (await redis.get(keys.directMessage(teamId, userId))) ?? undefined;
    },
    async setDirectMessage(teamId: string, userId: string, channel: string) {
      await redis.set(keys.directMessage(teamId, userId), channel, 'PX', retention.directMessageMs);
    },
  };
}
