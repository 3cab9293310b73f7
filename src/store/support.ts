import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** What the platform or Slack turned out to lack, such as previews or charts, by names of the caller. */

export const createSupportStore = (redis: RedisClient) => ({
  /** Returns whether something was found missing within the last day, and not found since. */
  isMissing: async (what: string): Promise<boolean> => (await redis.exists(keys.missing(what))) === 1,
  async markMissing(what: string) {
    await redis.set(keys.missing(what), '1', 'PX', retention.missingMs);
  },
  async markThere(what: string) {
    await redis.del(keys.missing(what));
  },
});
