import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Settings } from './config/settings.ts';
import { createQueues } from './jobs/queue.ts';
import { createPolicy } from './policy.ts';
import type { Closers } from './runtime/closers.ts';
import { createThrottledWarn, type Log } from './runtime/log.ts';
import { defaultTiming, type Timing } from './runtime/timing.ts';
import { createHealth } from './server/health.ts';
import { createHealthChecks, redisState } from './server/health-checks.ts';
import type { HttpServer } from './server/http-server.ts';
import { createSlackApi } from './slack/client.ts';
import { lacksScope } from './slack/errors.ts';
import { createIdentity } from './slack/identity.ts';
import { createNames } from './slack/names.ts';
import { createPublicChannels } from './slack/public-channels.ts';
import { startEmbeddedRedis } from './store/embedded/embedded-redis.ts';
import { dependencies } from './store/health.ts';
import type { RedisAddress } from './store/redis/address.ts';
import { createClock } from './store/redis/clock.ts';
import type { OnConnectionError } from './store/redis/connections.ts';
import { createRedisWatch } from './store/redis/watch.ts';

/** How long an answer may wait for Slack to say whether channels are public. */
const PUBLIC_MS = 500;

/** What a test replaces; everything else comes from the settings. */
export interface AppParts {
  log: Log;
  timing?: Partial<Timing>;
  now?: () => number;
  random?: () => number;
  /** Where redis-server is looked for. */
  searchPath?: string | undefined;
}

/** What both roles are made from. */
export type RoleParts = Awaited<ReturnType<typeof createRoleParts>>;

/**
 * Makes it, and starts Redis where the settings name none. `server` listens already. Rejects with a typed error that
 * names the fix; `closers` has what was opened by then.
 */
export async function createRoleParts(
  settings: Settings,
  server: HttpServer,
  closers: Closers,
  options: AppParts,
) {
  const { log, now: machineMs = Date.now, random = Math.random } = options;
  const timing: Timing = {
    ...defaultTiming,
    watchMs: settings.limits.watchHours * 3_600_000,
    ...options.timing,
  };
  const monotonicMs = () => performance.now();
  const clock = createClock({ everyMs: timing.sweepMs, machineMs, monotonicMs });
  closers.add(() => clock.stop());
  // A time of the test's own is not that of Redis.
  const now = options.now ?? clock.now;
  const report = createThrottledWarn(log, now);
  const checks = createHealthChecks(server, now);
  const health = createHealth(now);
  for (const part of dependencies) checks.addPart(part, () => health.states()[part]);

  const slack = createSlackApi({
    token: settings.slackBotToken,
    apiUrl: settings.slackApiUrl,
    timing,
    log,
    monotonicMs,
    onCall: (answered) => health.record('slack', answered),
  });
  const identity = createIdentity(slack, timing, log);
  closers.add(() => identity.stop());
  const remembered = {
    timeoutMs: timing.permissionMs,
    cacheMs: timing.permissionCacheMs,
    // What is remembered for a while must not end early or late because a clock is put right.
    now: options.now ?? monotonicMs,
  };

  const address = await findRedis(settings, closers, options);
  const redisWatch = createRedisWatch({ address, allow: settings.redisAllow, timing, monotonicMs, log });
  closers.add(() => redisWatch.stop());
  checks.addProblem(() => redisWatch.problems().map(({ text }) => text));
  checks.addStuck(redisWatch.stuck);
  await redisWatch.start();

  return {
    address,
    redisWatch,
    slack,
    identity,
    health,
    checks,
    server,
    policy: createPolicy({ ...slack, ...remembered, lacksScope, allow: settings.allow, log }),
    /** Names for what a message mentions. Rejects with `NamesUnknown`. */
    names: createNames({ ...slack, ...remembered }),
    /** Whether every full member may read a conversation now; not, when Slack does not tell. */
    isPublic: createPublicChannels({ ...slack, ...remembered, timeoutMs: PUBLIC_MS, log }),
    timing,
    /** The time of `clock`. */
    now,
    clock,
    /** What the clock of this machine shows: what Slack signs is compared with it. */
    machineMs,
    monotonicMs,
    random,
    /** Returns a short reference that a person sees and the log has too. */
    newRef: () => randomBytes(3).toString('hex'),
    log,
    closers,
    onRedisError: (error: Error) => report(error, 'trouble with Redis'),
  };
}

async function findRedis(settings: Settings, closers: Closers, options: AppParts): Promise<RedisAddress> {
  const { redisUrl: url, redisCa: ca, dataDir } = settings;
  if (url !== undefined) return { url, ca };
  const { log, searchPath = '' } = options;
  const redis = await startEmbeddedRedis({ dataDir, log, searchPath });
  closers.add(() => redis.stop());
  return { socketPath: redis.socketPath };
}

/** Connects a role to Redis and to its queues. */
export function connectRole(
  connect: (address: RedisAddress, timing: Timing, onError: OnConnectionError) => Redis,
  { address, timing, closers, redisWatch, checks, onRedisError }: RoleParts,
): { redis: Redis; queues: ReturnType<typeof createQueues> } {
  const redis = connect(address, timing, onRedisError);
  closers.add(() => redis.disconnect());
  redisWatch.add(redis);
  checks.addPart('redis', () => redisState(redis));
  const queues = createQueues(redis, onRedisError);
  closers.add(() => queues.close());
  return { redis, queues };
}
