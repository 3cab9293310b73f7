import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** People who open their Home tab: only their tabs are refreshed. */
export function createHomeStore(redis: RedisClient) {
  return {
    async markOpened(teamId: string, userId: string) {
      await redis.set(keys.homeOpened(teamId, userId), '1', 'PX', retention.homeOpenedMs);
    },
    /** Returns those of these people who have opened their Home tab, as far as it is remembered. */
    async whoOpened(teamId: string, userIds: readonly string[]): Promise<string[]> {
      const opened = await Promise.all(
        userIds.map((userId) => redis.exists(keys.homeOpened(teamId, userId))),
      );
      return userIds.filter((_, index) => opened[index] === 1);
    },
  };
}
