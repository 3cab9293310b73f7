import './config/node-version.ts';
import { randomBytes } from 'node:crypto';
import { secretsInAddress } from './config/redis.ts';
import { readSettings, type Settings, SettingsError, secretsOf, warningsOf } from './config/settings.ts';
import { DocsApiSettingsError } from './docs-api/errors.ts';
import { createPolicy } from './policy.ts';
import type { RoleParts } from './role.ts';
import { createClosers } from './runtime/closers.ts';
import { createLog, createThrottledWarn, type Log } from './runtime/log.ts';
import { defaultTiming, type Timing } from './runtime/timing.ts';
import { within } from './runtime/within.ts';
import { createHealth } from './server/health.ts';
import { createHealthChecks } from './server/health-checks.ts';
import { PortError, startHttpServer } from './server/http-server.ts';
import { createSlackApi } from './slack/client.ts';
import { lacksScope } from './slack/errors.ts';
import { createIdentity } from './slack/identity.ts';
import { createNames } from './slack/names.ts';
import { createPublicChannels } from './slack/public-channels.ts';
import { DataDirUnusable } from './store/embedded/data-dir.ts';
import { DataDirInUse } from './store/embedded/data-dir-lock.ts';
import { startEmbeddedRedis } from './store/embedded/embedded-redis.ts';
import { RedisMissing, RedisStartFailed } from './store/embedded/redis-server.ts';
import { dependencies } from './store/health.ts';
import type { RedisAddress } from './store/redis/address.ts';
import { createClock } from './store/redis/clock.ts';
import { createRedisWatch, RedisUnfit, type RedisWatch } from './store/redis/watch.ts';
import { startWeb } from './web.ts';
import { startWorker } from './worker.ts';

/** How long the start waits for Slack to say who the bot is. */
const READY_MS = 2000;

/** How long an answer may wait for Slack to say whether channels are public. */
const PUBLIC_MS = 500;

/** What a test replaces; everything else comes from the settings. */
export interface AppParts {
  log: Log;
  timing?: Partial<Timing>;
  now?: () => number;
  random?: () => number;
  /** Where redis-server is looked for. */
  searchPath?: string;
}

export interface Docket {
  /** Where it answers health checks and, unless its role is `worker`, takes requests. */
  port: number;
  /** Stops taking requests, hands running jobs back and closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/** Puts the parts together and starts them. Rejects with a typed error that names the fix. */
export async function startApp(settings: Settings, options: AppParts): Promise<Docket> {
  const {
    log,
    now: machineMs = Date.now,
    random = Math.random,
    searchPath = process.env.PATH ?? '',
  } = options;
  const timing = {
    ...defaultTiming,
    watchMs: settings.limits.watchHours * 3_600_000,
    ...options.timing,
  };
  const isWorker = settings.role === 'worker';
  const server = isWorker
    ? await startHttpServer('HEALTH_PORT', settings.healthPort, log)
    : await startHttpServer('PORT', settings.port, log);
  const closers = createClosers(log);
  const clock = createClock({ everyMs: timing.sweepMs, machineMs, monotonicMs: () => performance.now() });
  closers.add(() => clock.stop());
  // A time of the test's own is not that of Redis.
  const now = options.now ?? clock.now;
  // What is remembered for a while must not end early or late because a clock is put right.
  const monotonicNow = options.now ?? (() => performance.now());
  const checks = createHealthChecks(server, now);
  const report = createThrottledWarn(log, now);
  const health = createHealth(now);
  for (const part of dependencies) checks.addPart(part, () => health.states()[part]);
  const slack = createSlackApi({
    token: settings.slackBotToken,
    apiUrl: settings.slackApiUrl,
    timing,
    log,
    monotonicMs: () => performance.now(),
    onCall: (answered) => health.record('slack', answered),
  });
  const identity = createIdentity(slack, timing, log);
  const policy = createPolicy({
    person: slack.person,
    groupMembers: slack.groupMembers,
    groups: slack.groups,
    lacksScope,
    allow: settings.allow,
    timeoutMs: timing.permissionMs,
    cacheMs: timing.permissionCacheMs,
    now: monotonicNow,
    log,
  });

  const names = createNames({
    person: slack.person,
    channelName: slack.channelName,
    groups: slack.groups,
    timeoutMs: timing.permissionMs,
    cacheMs: timing.permissionCacheMs,
    now: monotonicNow,
  });

  const isPublic = createPublicChannels({
    channel: slack.channel,
    timeoutMs: PUBLIC_MS,
    cacheMs: timing.permissionCacheMs,
    now: monotonicNow,
    log,
  });

  async function findRedis(): Promise<RedisAddress> {
    if (settings.redisUrl !== undefined) return { url: settings.redisUrl, ca: settings.redisCa };
    const redis = await startEmbeddedRedis({ dataDir: settings.dataDir, log, searchPath });
    closers.add(() => redis.stop());
    return { socketPath: redis.socketPath };
  }

  async function watchRedis(address: RedisAddress): Promise<RedisWatch> {
    const redisWatch = createRedisWatch({
      address,
      allow: settings.redisAllow,
      timing,
      monotonicMs: () => performance.now(),
      log,
    });
    closers.add(() => redisWatch.stop());
    checks.addProblem(() => redisWatch.problems().map(({ text }) => text));
    checks.addStuck(redisWatch.stuck);
    await redisWatch.start();
    return redisWatch;
  }

  /** No further requests, then everything else. */
  async function stop() {
    closers.stop();
    await server.close();
    await closers.closeAll();
  }

  try {
    const address = await findRedis();
    const parts: RoleParts = {
      address,
      redisWatch: await watchRedis(address),
      slack,
      identity,
      health,
      checks,
      server,
      policy,
      names,
      isPublic,
      timing,
      now,
      clock,
      machineMs,
      random,
      newRef: () => randomBytes(3).toString('hex'),
      log,
      closers,
      onRedisError: (error) => report(error, 'trouble with Redis'),
    };
    closers.add(() => identity.stop());
    // Slack may be away: then people are told so, and the asking goes on.
    await within(READY_MS, identity.start()).catch(() => {});
    if (settings.role !== 'web') startWorker(settings, parts);
    if (!isWorker) await startWeb(settings, parts);
    checks.markReady();
    const { port } = server;
    log.info(
      {
        role: settings.role,
        ...(isWorker ? { healthPort: port } : { port }),
        redis: settings.redisUrl === undefined ? 'embedded' : 'external',
      },
      'Docket is up',
    );
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What the operator can mend; the message says how. */
const operatorErrors = [
  SettingsError,
  DocsApiSettingsError,
  PortError,
  RedisMissing,
  DataDirInUse,
  DataDirUnusable,
  RedisStartFailed,
  RedisUnfit,
];

/**
 * Runs Docket until SIGTERM, SIGINT or SIGHUP. When settings cannot work, prints their problems with the fixes, and exits
 * with 1.
 */
export async function main(env: NodeJS.ProcessEnv): Promise<void> {
  let log: Log | undefined;
  try {
    const settings = readSettings(env);
    log = createLog(settings.logLevel, secretsOf(settings));
    for (const warning of warningsOf(settings)) log.warn(warning);
    const app = startApp(settings, { log });
    stopOnSignals(app, log);
    await app;
  } catch (error) {
    if (error instanceof Error && operatorErrors.some((kind) => error instanceof kind))
      console.error(error.message);
    else
      (log ?? createLog('info', secretsInAddress(env.REDIS_URL ?? ''))).fatal(
        { err: error },
        'Docket could not start',
      );
    process.exit(1);
  }
}

/** A signal that comes while Docket starts ends it in order too, its Redis included. */
function stopOnSignals(app: Promise<Docket>, log: Log) {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), defaultTiming.shutdownMs + 1500).unref();
    const docket = await app;
    await docket.stop();
    process.exit(0);
  };
  // A terminal that closes sends SIGHUP, and npm may pass it on once more. A second Ctrl-C ends at once.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, (received) => void stop(received));
  process.once('SIGINT', (received) => void stop(received));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught; what is accepted goes on after a restart');
    process.exit(1);
  });
}

if (import.meta.main) await main(process.env);
