import type { Redis } from 'ioredis';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';

/** Counts the unexpected errors of a BullMQ job. */
export interface JobErrorStore {
  /** Counts one more. Returns how many there are. */
  add(bullJobId: string): Promise<number>;
  clear(bullJobId: string): Promise<void>;
}

export function createJobErrorStore(redis: Redis): JobErrorStore {
  return {
    async add(bullJobId) {
      const key = keys.jobErrors(bullJobId);
      const answers = await redis.multi().incr(key).pexpire(key, retention.jobErrorsMs).exec();
      return Number(answers?.[0]?.[1]);
    },
    async clear(bullJobId) {
      await redis.del(keys.jobErrors(bullJobId));
    },
  };
}
