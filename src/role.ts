import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { redisAddressOf, type Settings } from './config/settings.ts';
import { createQueues, queueNames } from './jobs/engine/queue.ts';
import { jobs } from './jobs/index.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { Log } from './runtime/log.ts';
import { OperatorError } from './runtime/operator-error.ts';
import { repeat, type ShutdownHooks } from './runtime/stopping.ts';
import { defaultTiming, type Timing } from './runtime/timing.ts';
import { version } from './runtime/version.ts';
import { withTimeout } from './runtime/with-timeout.ts';
import { createHealth, redisState, upstreamOf } from './server/health.ts';
import type { HttpServer } from './server/http-server.ts';
import { addRedisGauges, serveMetrics } from './server/metrics.ts';
import { startOpenTelemetry } from './server/open-telemetry.ts';
import { createWorkWatch } from './server/work-watch.ts';
import { findBot } from './slack/lookups.ts';
import { startEmbeddedRedis } from './store/embedded-redis.ts';
import { setTagName } from './store/keys.ts';
import { limitNameOf, limitNames } from './store/rate-limit.ts';
import { createRedisWatch } from './store/redis/check.ts';
import type { RedisClient } from './store/redis/client.ts';
import { createClock } from './store/redis/clock.ts';
import {
  connectForRequests,
  type OnConnectionError,
  type RedisAddress,
  tagNameOf,
} from './store/redis/connections.ts';
import { checkSchema } from './store/schema.ts';
import { createStores } from './store/stores.ts';
import { createWorkspace, slackPartOf } from './workspaces.ts';

/** How long the start waits for Redis, and for the bot's identity from Slack. */
const READY_MS = 2000;

/** Parts that tests replace; everything else comes from the settings. */
export interface AppParts {
  log: Log;
  /** Secrets that the log hides. A key that is read later is added. */
  secrets?: string[];
  timing?: Partial<Timing>;
  now?: () => number;
  random?: () => number;
  /** Folders in which redis-server is searched, as in PATH. */
  searchPath?: string | undefined;
}

/** The parts that `startWeb` and `startWorker` share. */
export type RoleParts = Awaited<ReturnType<typeof createRoleParts>>;

/** Creates the shared parts, and starts Redis if the settings name none. What it opens is in `closers`. */
export async function createRoleParts(
  settings: Settings,
  server: HttpServer,
  closers: ShutdownHooks,
  options: AppParts,
) {
  const { log, secrets = [], now: machineMs = Date.now, random = Math.random } = options;
  const timing: Timing = {
    ...defaultTiming,
    watchMs: settings.limits.watchHours * 3_600_000,
    ...options.timing,
  };
  const monotonicMs = () => performance.now();
  const { stopping } = closers;
  const clock = createClock({ everyMs: timing.sweepMs, machineMs, monotonicMs, stopping });
  // A test that passes its own time must not get that of Redis.
  const now = options.now ?? clock.now;
  const about = { version, role: settings.role };
  const jobNames = jobs.map(({ name }) => name);
  const metrics = createMetrics({ ...about, jobs: jobNames, queues: queueNames, limits: limitNames });
  serveMetrics(server, metrics, settings.metricsAddress);
  const health = createHealth({
    server,
    log,
    now,
    monotonicMs,
    afterMs: timing.problemAfterMs,
    retryMs: timing.retryMaxMs * 1.5,
    probeMs: timing.probeMs,
    slackParts: settings.workspaces.map(slackPartOf),
    onCall(part, { answered, refused }) {
      const outcome = answered ? 'answered' : refused ? 'refused' : 'unanswered';
      metrics.upstreamCalls.add({ upstream: upstreamOf(part), outcome });
    },
  });
  metrics.onScrape(() =>
    metrics.problems.replace(health.problems().map(({ name, level }) => [{ name, level }, 1])),
  );
  void repeat(
    stopping,
    () => timing.redisPingMs,
    async () => health.logAll(),
  );
  const { otelExporterOtlpEndpoint: collector } = settings;
  const { tracing, telemetry, close } = await startOpenTelemetry(collector, { ...about, log });
  closers.add(close);

  const cacheNow = options.now ?? monotonicMs;
  const shared = { settings, timing, cacheNow, monotonicMs, health, metrics, tracing, closers, log };
  const workspaces = settings.workspaces.map((workspace) => createWorkspace(workspace, shared));
  health.addProblems(() => {
    const known = workspaces.map(({ teamId }) => teamId()).filter((teamId) => teamId !== '');
    const isTwice = new Set(known).size < known.length;
    // Docket cannot know which app should do its work.
    const text =
      'Two workspaces of the settings are the same one in Slack. Remove one of them, or use the token of another.';
    return isTwice ? [{ name: 'workspace_twice', level: 'error', text }] : [];
  });

  let address = redisAddressOf(settings);
  let isDiskFull: (() => boolean) | undefined;
  if (address === undefined) {
    const { dataDir } = settings;
    const { searchPath = '' } = options;
    const redis = await startEmbeddedRedis({ dataDir, log, searchPath, cancelled: stopping });
    closers.add(() => redis.stop());
    health.addProblems(() => {
      const text = redis.diskProblem();
      return text === undefined ? [] : [{ name: 'disk', level: 'error', text }];
    });
    isDiskFull = () => redis.diskProblem() !== undefined;
    address = { socketPath: redis.socketPath };
  }
  setTagName(tagNameOf(address));
  const { redisAllow: allow } = settings;
  const onAnswer = (ms: number) => metrics.redisCommands.observe({}, ms);
  const redisWatch = createRedisWatch({
    address,
    allow,
    timing,
    monotonicMs,
    onAnswer,
    isDiskFull,
    log,
    stopping,
  });
  health.addProblems(() =>
    redisWatch.problems().map(({ kind, ...problem }) => ({ name: `redis_${kind}`, ...problem })),
  );
  await redisWatch.start();

  return {
    address,
    redisWatch,
    workspaces,
    health,
    metrics,
    tracing,
    telemetry,
    server,
    timing,
    now,
    clock,
    /** Returns the time of this machine's clock, for comparison with Slack's signed timestamps. */
    machineMs,
    monotonicMs,
    random,
    /** Returns a new short reference, which a message shows to a person and the log repeats. */
    newRef: () => randomUUID().slice(0, 6),
    log,
    secrets,
    closers,
    onRedisError: redisWatch.report,
  };
}

/**
 * Connects a role to Redis and its queues, and shows metrics of Redis; of two roles in one process, only one shows them.
 * Waits briefly for Redis, so that the first request is not refused. Rejects with `OperatorError` if the data have
 * another schema.
 */
export async function connectRole(
  connect: (address: RedisAddress, timing: Timing, onError: OnConnectionError) => RedisClient,
  { projects, limits, role }: Settings,
  parts: RoleParts,
) {
  const { address, workspaces, timing, closers, redisWatch, health, metrics, onRedisError } = parts;
  const redis = connect(address, timing, onRedisError);
  closers.add(() => redis.disconnect());
  redisWatch.add(redis);
  const signal = AbortSignal.any([closers.stopping, AbortSignal.timeout(READY_MS)]);
  if (redis.status !== 'ready') await once(redis, 'ready', { signal }).catch(() => {});
  const checkData = () =>
    checkSchema(redis).catch((error: unknown) => {
      if (error instanceof OperatorError) throw error;
    });
  if (redis.status === 'ready') await checkData();
  // Nobody catches a later mismatch, so it ends the process.
  redis.on('ready', () => void checkData());
  closers.stopping.throwIfAborted();
  // Of two roles in one process, the worker starts first.
  const isFirst = role !== 'all' || connect !== connectForRequests;
  // Without the bot's identity, commands are refused, and the look-up is retried.
  if (isFirst) {
    const asked = Promise.all(
      workspaces.map(({ slack, log }) => findBot(slack, timing, log, closers.stopping)),
    );
    await withTimeout(READY_MS, Promise.race([asked, once(closers.stopping, 'abort')])).catch(() => {});
    closers.stopping.throwIfAborted();
  }
  health.addPart('redis', () => redisState(redis));
  const queues = createQueues(redis, onRedisError, parts.telemetry);
  closers.add(() => queues.close());
  const stores = createStores(redis, (limit, outcome) =>
    metrics.slots.add({ limit: limitNameOf(limit), outcome }),
  );
  if (isFirst) {
    health.shareIn(stores.health, onRedisError);
    const probe = () => Promise.all(workspaces.map((one) => one.probe()));
    void repeat(closers.stopping, () => timing.problemCheckMs, probe);
  }
  for (const { channelIds, teamId } of workspaces)
    void channelIds.begin(() => stores.channelIds.load(teamId()), timing.redisPingMs);
  if (role !== 'all' || connect === connectForRequests) {
    const { now, monotonicMs } = parts;
    addRedisGauges({ metrics, redis, queues, stores, workspaces, projects, limits, timing, now });
    const watch = createWorkWatch({ queues, stores, timing, monotonicMs });
    health.addProblems(watch.problems);
    void repeat(closers.stopping, () => timing.problemCheckMs, watch.check);
  }
  return { redis, queues, stores };
}
