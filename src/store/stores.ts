import { createAlertStore, createRejectedKeyStore } from './alerts.ts';
import { createAuditStore } from './audit.ts';
import { createDueStore } from './due.ts';
import { createFiguresStore } from './figures.ts';
import { createHealthStore } from './health.ts';
import { createMessageStore } from './messages.ts';
import { createRateLimitStore } from './rate-limit.ts';
import type { RedisClient } from './redis/client.ts';
import { createRunStore } from './runs.ts';
import { createOwnPostStore, createThreadStore } from './threads.ts';
import { createValueStores } from './values.ts';

export type Stores = ReturnType<typeof createStores>;

/** All of Docket's stores, over one connection. */
export const createStores = (redis: RedisClient) => ({
  ...createValueStores(redis),
  alerts: createAlertStore(redis),
  audit: createAuditStore(redis),
  due: createDueStore(redis),
  health: createHealthStore(redis),
  figures: createFiguresStore(redis),
  messages: createMessageStore(redis),
  ownPosts: createOwnPostStore(redis),
  rateLimiter: createRateLimitStore(redis),
  rejectedKeys: createRejectedKeyStore(redis),
  runs: createRunStore(redis),
  threads: createThreadStore(redis),
});
