import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Duration of the last job of each name, in milliseconds. */
export type DurationStore = ReturnType<typeof createDurationStore>;

export const createDurationStore = (redis: RedisClient) => ({
  async save(name: string, tookMs: number): Promise<void> {
    await redis.set(keys.lastDuration(name), tookMs, 'PX', retention.durationsMs);
  },

  /** Returns the duration, or undefined if none is stored. */
  async load(name: string): Promise<number | undefined> {
    const tookMs = Number(await redis.get(keys.lastDuration(name)));
    return tookMs > 0 ? tookMs : undefined;
  },
});
