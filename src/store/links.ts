import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/**
 * Presigned links. Each link has a name of its own, and Redis deletes it when it expires; messages and records contain
 * only the name.
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
