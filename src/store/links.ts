import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/**
 * Presigned links. A link lives under a name of its own and is deleted by Redis when it ends; messages and
 * records hold the name only.
 */
export type LinkStore = ReturnType<typeof createLinkStore>;

export function createLinkStore(redis: RedisClient) {
  return {
    async put(name: string, url: string, endsAtMs: number) {
      await redis.set(keys.link(name), url, 'PXAT', endsAtMs);
    },
    async get(name: string): Promise<string | undefined> {
      return (await redis.get(keys.link(name))) ?? undefined;
    },
  };
}
