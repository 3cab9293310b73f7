import { createAuditStore } from './audit.ts';
import { createDueStore } from './due.ts';
import { createFiguresStore } from './figures.ts';
import { createMessageStore } from './messages.ts';
import { type CountSlot, createRateLimitStore } from './rate-limit.ts';
import type { RedisClient } from './redis/client.ts';
import { createRunStore } from './runs.ts';
import { createSupportStore } from './support.ts';
import { createThreadStore } from './threads.ts';
import { createValueStores } from './values.ts';

export type Stores = ReturnType<typeof createStores>;

/** All of Docket's stores, over one connection. */
export const createStores = (redis: RedisClient, countSlot?: CountSlot) => ({
  ...createValueStores(redis),
  audit: createAuditStore(redis),
  due: createDueStore(redis),
  figures: createFiguresStore(redis),
  messages: createMessageStore(redis),
  rateLimiter: createRateLimitStore(redis, countSlot),
  runs: createRunStore(redis),
  support: createSupportStore(redis),
  threads: createThreadStore(redis),
});
