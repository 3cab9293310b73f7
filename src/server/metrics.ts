import type { BlockList } from 'node:net';
import { keyIdOf } from '../docs-api/client.ts';
import { type Queues, queueNames, queueStates } from '../jobs/engine/queue.ts';
import { rateLimits } from '../jobs/features.ts';
import { jobs } from '../jobs/index.ts';
import type { Schedule } from '../jobs/schedule/record.ts';
import type { LimitContext } from '../jobs/shared/feature.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { cached } from '../runtime/cached.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { urgencies } from '../store/messages.ts';
import { limitNameOf, type RateLimit } from '../store/rate-limit.ts';
import type { RedisClient } from '../store/redis/client.ts';
import type { Stores } from '../store/stores.ts';
import { redisState } from './health.ts';
import { type HttpServer, isFromThisMachine, isIndirect, isListed, refuse } from './http-server.ts';

const REFUSAL =
  'The metrics are for this machine and the addresses in METRICS_ADDRESS, and not through a proxy.\n';

/** Serves `GET /metrics` to this machine and to these addresses, but never through a proxy. */
export function serveMetrics(
  server: Pick<HttpServer, 'route'>,
  metrics: Pick<Metrics, 'expose' | 'contentType'>,
  allowed: BlockList,
): void {
  server.route('GET /metrics', async (request, response) => {
    const isNamed = !isIndirect(request) && isListed(allowed, request.socket.remoteAddress);
    if (!isNamed && !isFromThisMachine(request)) return refuse(response, 403, REFUSAL);
    const text = await metrics.expose();
    response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(text);
  });
}

/** How long a scrape waits for Redis; later values are left out. */
const READ_MS = 1000;

const SCHEDULES_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

/** After so long, a schedule that is due is late. */
const LATE_MS = 10 * 60_000;

const SCHEDULE_JOBS = ['digest-schedule', 'export-schedule'] as const;

interface RedisGaugeParts extends LimitContext {
  metrics: Metrics;
  redis: RedisClient;
  queues: Pick<Queues, 'counts'>;
  stores: Pick<Stores, 'due' | 'messages' | 'rateLimiter' | 'rejectedKeys' | 'runs'>;
  /** A team id is empty until Slack has answered. */
  workspaces: readonly { teamId: () => string }[];
  now: () => number;
}

/** Shows values from Redis: read at each scrape, the same in each process, and left out if Redis does not answer. */
export function addRedisGauges(parts: RedisGaugeParts): void {
  const { metrics, redis, now } = parts;
  // It reads every schedule, so it is read once a minute.
  const readSchedules = cached({ timeoutMs: READ_MS, cacheMs: SCHEDULES_MS, now }, () =>
    countSchedules(parts),
  );
  metrics.onScrape(async () => {
    const isUp = (await redisState(redis)) === 'up';
    const found = isUp ? await withTimeout(READ_MS, readAll(parts)).catch(() => undefined) : undefined;
    metrics.redisUp.replace([[{}, isUp ? 1 : 0]]);
    metrics.queueJobs.replace(found?.jobs ?? []);
    metrics.oldestWaiting.replace(found?.oldest ?? []);
    metrics.oldestUndelivered.replace(found?.undelivered ?? []);
    metrics.limitUsed.replace(found?.usages.map(([limit, { ratio }]) => [{ limit }, ratio]) ?? []);
    metrics.limitWaiting.replace(found?.usages.map(([limit, { waiting }]) => [{ limit }, waiting]) ?? []);
    metrics.rejectedKeys.replace(found ? [[{}, found.rejected]] : []);
    metrics.oldQuestions.replace(found ? [[{}, found.oldQuestions]] : []);
    metrics.schedules.replace(isUp ? await withTimeout(READ_MS, readSchedules('')).catch(() => []) : []);
  });
}

async function readAll(parts: RedisGaugeParts) {
  const { queues, projects, stores, workspaces, now } = parts;
  const limits = workspaces.flatMap(({ teamId }) => rateLimits(teamId(), parts));
  const byName = new Map(limits.map((limit) => [limit.name, limit]));
  const keyIds = [...new Set(projects.map(keyIdOf))];
  const questions = workspaces.map(({ teamId }) => stores.runs.countAsking(teamId(), now() - DAY_MS));
  const [counts, waitingMs, behind, usages, rejected, asking] = await Promise.all([
    queues.counts(),
    stores.due.dueFor(),
    stores.messages.behindSince(),
    usagesOf([...byName.values()], stores),
    stores.rejectedKeys.since(keyIds),
    Promise.all(questions),
  ]);
  return {
    jobs: counts.flatMap((one) =>
      queueStates.map((state) => [{ queue: one.queue, state }, one[state]] as const),
    ),
    oldest: queueNames.map((queue) => {
      const own = jobs.filter((job) => job.queue === queue).map(({ name }) => waitingMs.get(name) ?? 0);
      return [{ queue }, Math.max(0, ...own) / 1000] as const;
    }),
    undelivered: urgencies.map(
      (urgency) => [{ urgency }, Math.max(0, now() - (behind[urgency] ?? now())) / 1000] as const,
    ),
    usages,
    oldQuestions: asking.reduce((sum, count) => sum + count, 0),
    rejected: rejected.filter((sinceMs) => sinceMs !== undefined).length,
  };
}

/** Counts the schedules of all workspaces: `late` ones have been due for a while. */
async function countSchedules({ workspaces, stores, now }: RedisGaugeParts) {
  const lists = workspaces.flatMap(({ teamId }) =>
    SCHEDULE_JOBS.map((job) => stores.runs.indexed<Schedule>(job, teamId())),
  );
  const all = (await Promise.all(lists)).flat();
  const active = all.filter(({ state }) => state === 'active');
  const paused = all.filter(({ state }) => state === 'paused');
  const late = active.filter(({ nextAtMs = Infinity }) => nextAtMs < now() - LATE_MS);
  return Object.entries({ active, paused, late }).map(([state, found]) => [{ state }, found.length] as const);
}

/** Returns the highest use of each kind of limit, and the number of waiting requests. */
async function usagesOf(limits: readonly RateLimit[], { rateLimiter }: Pick<Stores, 'rateLimiter'>) {
  const read = limits.map(async (limit) => ({ limit, ...(await rateLimiter.usage(limit)) }));
  const byName = Map.groupBy(await Promise.all(read), ({ limit }) => limitNameOf(limit));
  return [...byName].map(([name, all]) => {
    const ratio = Math.max(...all.map(({ limit, used }) => Math.min(1, used / limit.count)));
    return [name, { ratio, waiting: all.reduce((sum, { waiting }) => sum + waiting, 0) }] as const;
  });
}
