import type { RedisProblem } from '../store/redis/problems.ts';
import type { Check } from './check.ts';
import { notChecked, type Outcome, ok, warning, worstOf, wrong } from './outcome.ts';
import type { RedisAnswer } from './probe-redis.ts';

type Line = 'reachable' | 'rights' | 'failover' | 'version' | 'persistence' | 'eviction';

/** The line that reports a problem. */
const LINE_OF: Record<RedisProblem['kind'], Line> = {
  unreachable: 'reachable',
  'not-redis': 'reachable',
  'no-tls': 'reachable',
  certificate: 'reachable',
  password: 'reachable',
  full: 'reachable',
  'refuses-writes': 'reachable',
  database: 'reachable',
  'read-only': 'reachable',
  'sentinel-name': 'reachable',
  'sentinel-password': 'reachable',
  'not-sentinel': 'reachable',
  'not-cluster': 'reachable',
  'is-cluster': 'reachable',
  'is-sentinel': 'reachable',
  rights: 'rights',
  'no-replica': 'failover',
  'info-forbidden': 'version',
  'too-old': 'version',
  volatile: 'persistence',
  snapshots: 'persistence',
  'volatile-unknown': 'persistence',
  eviction: 'eviction',
  'eviction-unknown': 'eviction',
};

/** Answers that are slower take a part of the three seconds in which Slack wants its own. */
const SLOW_MS = 100;

function judgeProblems({ problems }: RedisAnswer, line: Line, allow: readonly string[]): Outcome | undefined {
  const here = problems.filter(({ kind }) => LINE_OF[kind] === line);
  if (here.length === 0) return undefined;
  return worstOf(
    here.map(({ fatal, text, allowance }) => {
      if (allowance !== undefined && allow.includes(allowance))
        return warning(`${text} REDIS_ALLOW accepts it.`);
      return fatal || line === 'reachable' ? wrong(text) : warning(text);
    }),
  );
}

/** Returns why nothing more is known of Redis; `undefined` when it answers. */
function judgeSilence(answer: RedisAnswer): Outcome | undefined {
  if (answer.own === 'stopped' || answer.own === 'silent') return undefined;
  return answer.version === undefined && answer.latencyMs === undefined
    ? notChecked('Redis must be reachable first.')
    : undefined;
}

function judgeReachable(answer: RedisAnswer, allow: readonly string[]): Outcome {
  const problem = judgeProblems(answer, 'reachable', allow);
  if (problem !== undefined) return problem;
  if (answer.own === 'silent')
    return wrong(
      "Docket's own Redis is running but does not answer. Restart Docket; if that fails, it names the process to end.",
    );
  if (answer.missing !== undefined) return wrong(answer.missing);
  if (answer.own === 'stopped')
    return ok(`REDIS_URL is not set, so Docket starts its own ${answer.program} on DATA_DIR.`);
  if (answer.latencyMs === undefined) return wrong('Redis does not answer in time. Run this again.');
  return ok(answer.own === 'running' ? "Docket's own is running." : 'Redis answers at REDIS_URL.');
}

function judgeRights(answer: RedisAnswer, allow: readonly string[]): Outcome {
  return (
    judgeProblems(answer, 'rights', allow) ??
    judgeSilence(answer) ??
    ok(answer.own ? 'Docket has all rights in its own Redis.' : 'Docket has the rights that it needs.')
  );
}

function judgeFailover(answer: RedisAnswer, allow: readonly string[]): Outcome {
  const { own, replicas } = answer;
  return (
    judgeProblems(answer, 'failover', allow) ??
    judgeSilence(answer) ??
    (own || replicas === undefined || replicas === 0
      ? ok('There is one Redis without failover: Docket waits while it is down.')
      : ok(
          `Its primary has ${replicas === 1 ? 'a replica' : `${replicas} replicas`}; accepted work is copied to every replica that keeps up.`,
        ))
  );
}

function judgeVersion(answer: RedisAnswer, allow: readonly string[]): Outcome {
  if (answer.missing !== undefined) return notChecked('Install redis-server or valkey-server first.');
  return (
    judgeProblems(answer, 'version', allow) ??
    judgeSilence(answer) ??
    (answer.version === undefined
      ? warning('Its version cannot be read. Docket needs Redis 6.2 or newer, or Valkey.')
      : ok(`${answer.version}.`))
  );
}

function judgePersistence(answer: RedisAnswer, allow: readonly string[]): Outcome {
  return (
    judgeProblems(answer, 'persistence', allow) ??
    judgeSilence(answer) ??
    ok(
      answer.own
        ? 'Docket starts its own with each write on disk.'
        : 'It keeps its data on disk (appendonly yes).',
    )
  );
}

function judgeEviction(answer: RedisAnswer, allow: readonly string[]): Outcome {
  return (
    judgeProblems(answer, 'eviction', allow) ??
    judgeSilence(answer) ??
    ok(
      answer.own
        ? 'Docket starts its own so that it never drops keys.'
        : 'It never drops keys when it is full (noeviction).',
    )
  );
}

function judgeLatency(answer: RedisAnswer): Outcome {
  if (answer.own === 'stopped') return notChecked("Docket's own Redis is not running; Docket starts it.");
  if (answer.latencyMs === undefined) return notChecked('Redis must be reachable first.');
  const took = `${answer.latencyMs < 10 ? answer.latencyMs.toFixed(1) : Math.round(answer.latencyMs)} ms`;
  return answer.latencyMs > SLOW_MS
    ? warning(
        `It takes ${took} to answer; below 10 ms is usual. Run Redis closer to Docket, or find what keeps it busy.`,
      )
    : ok(`It answers within ${took}.`);
}

/** The settings that lead to Redis. */
const ADDRESS = [
  ...['REDIS_URL', 'REDIS_CA', 'REDIS_ALLOW', 'DATA_DIR'],
  ...['REDIS_SENTINEL_USER', 'REDIS_SENTINEL_PASSWORD'],
];

export const redisChecks: Check[] = [
  {
    id: 'redis',
    title: 'Redis',
    reports: ['REDIS_URL', 'REDIS_CA', 'REDIS_SENTINEL_USER', 'REDIS_SENTINEL_PASSWORD'],
    needs: ADDRESS,
    run: async ({ redis, settings }) => judgeReachable(await redis(), settings.redisAllow),
  },
  {
    id: 'redis-rights',
    title: 'Redis rights',
    needs: ADDRESS,
    run: async ({ redis, settings }) => judgeRights(await redis(), settings.redisAllow),
  },
  {
    id: 'redis-failover',
    title: 'Redis failover',
    needs: ADDRESS,
    run: async ({ redis, settings }) => judgeFailover(await redis(), settings.redisAllow),
  },
  {
    id: 'redis-version',
    title: 'Redis version',
    needs: ADDRESS,
    run: async ({ redis, settings }) => judgeVersion(await redis(), settings.redisAllow),
  },
  {
    id: 'redis-persistence',
    title: 'Redis persistence',
    needs: ADDRESS,
    run: async ({ redis, settings }) => judgePersistence(await redis(), settings.redisAllow),
  },
  {
    id: 'redis-eviction',
    title: 'Redis eviction',
    needs: ADDRESS,
    run: async ({ redis, settings }) => judgeEviction(await redis(), settings.redisAllow),
  },
  {
    id: 'redis-latency',
    title: 'Redis latency',
    needs: ADDRESS,
    run: async ({ redis }) => judgeLatency(await redis()),
  },
];
