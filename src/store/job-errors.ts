import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Counts the unexpected errors of a BullMQ job. */
export function createJobErrorStore(redis: RedisClient) {
  return {
    /** Counts one more error. Returns the total. */
    async add(bullJobId: string): Promise<number> {
      const key = keys.jobErrors(bullJobId);
      const answers = await redis.multi().incr(key).pexpire(key, retention.jobErrorsMs).exec();
      return Number(answers?.[0]?.[1]);
    },
    async clear(bullJobId: string) {
      await redis.del(keys.jobErrors(bullJobId));
    },
  };
}
