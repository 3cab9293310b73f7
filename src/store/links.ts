import type { Redis } from 'ioredis';
import { keys } from './keys.ts';

/**
 * Presigned links. A link lives under a name of its own and is deleted by Redis when it ends; messages and
 * records hold the name only.
 */
export interface LinkStore {
  put(name: string, url: string, endsAtMs: number): Promise<void>;
  get(name: string): Promise<string | undefined>;
}

export function createLinkStore(redis: Redis): LinkStore {
  return {
    async put(name, url, endsAtMs) {
      await redis.set(keys.link(name), url, 'PXAT', endsAtMs);
    },
    async get(name) {
      return (await redis.get(keys.link(name))) ?? undefined;
    },
  };
}
