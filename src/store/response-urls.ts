import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Response URLs for ephemeral answers, by request, as long as Slack accepts them. They are secrets. */
export type ResponseUrlStore = ReturnType<typeof createResponseUrlStore>;

export function createResponseUrlStore(redis: RedisClient) {
  return {
    async put(request: string, responseUrl: string) {
      await redis.set(keys.responseUrl(request), responseUrl, 'PX', retention.responseUrlMs);
    },
    async find(request: string): Promise<string | undefined> {
      return (await redis.get(keys.responseUrl(request))) ?? undefined;
    },
  };
}
