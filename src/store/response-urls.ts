import type { Redis } from 'ioredis';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';

/** Addresses for ephemeral answers, each by its request, for as long as Slack honours them. They are secrets. */
export interface ResponseUrlStore {
  put(request: string, responseUrl: string): Promise<void>;
  find(request: string): Promise<string | undefined>;
}

export function createResponseUrlStore(redis: Redis): ResponseUrlStore {
  return {
    async put(request, responseUrl) {
      await redis.set(keys.responseUrl(request), responseUrl, 'PX', retention.responseUrlMs);
    },
    async find(request) {
      return (await redis.get(keys.responseUrl(request))) ?? undefined;
    },
  };
}
