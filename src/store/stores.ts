import { createAlertStore } from './alerts.ts';
import { createAuditStore } from './audit.ts';
import { createCallOnceStore } from './calls.ts';
import { createChannelIdStore } from './channel-ids.ts';
import { createDueStore } from './due.ts';
import { createDurationStore } from './durations.ts';
import { createFiguresStore } from './figures.ts';
import { createHealthStore } from './health.ts';
import { createHomeStore } from './homes.ts';
import { createLinkStore } from './links.ts';
import { createMessageStore } from './messages.ts';
import { createOwnPostStore } from './own-posts.ts';
import { createPeopleStore } from './people.ts';
import { createRateLimitStore } from './rate-limit.ts';
import type { RedisClient } from './redis/client.ts';
import { createRejectedKeyStore } from './rejected-keys.ts';
import { createResponseUrlStore } from './response-urls.ts';
import { createRunStore } from './runs.ts';
import { createThreadStore } from './threads.ts';

export type Stores = ReturnType<typeof createStores>;

/** All of Docket's stores, over one connection. */
export const createStores = (redis: RedisClient) => ({
  alerts: createAlertStore(redis),
  audit: createAuditStore(redis),
  channelIds: createChannelIdStore(redis),
  due: createDueStore(redis),
  durations: createDurationStore(redis),
  health: createHealthStore(redis),
  figures: createFiguresStore(redis),
  homes: createHomeStore(redis),
  links: createLinkStore(redis),
  messages: createMessageStore(redis),
  ownPosts: createOwnPostStore(redis),
  people: createPeopleStore(redis),
  rateLimiter: createRateLimitStore(redis),
  rejectedKeys: createRejectedKeyStore(redis),
  responseUrls: createResponseUrlStore(redis),
  runs: createRunStore(redis),
  steps: createCallOnceStore(redis),
  threads: createThreadStore(redis),
});
