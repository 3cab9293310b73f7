import type { RedisProblem } from '../store/redis/problems.ts';
import type { Check } from './check.ts';
import { type Outcome, ok, warning, worstOf, wrong } from './outcome.ts';
import type { RedisAnswer } from './probe-redis.ts';

function judgeProblems(problems: readonly RedisProblem[], allow: readonly string[]): Outcome {
  return worstOf(
    problems.map(({ kind, text, allowance }) => {
      if (allowance !== undefined && allow.includes(allowance))
        return warning(`${text} REDIS_ALLOW accepts it.`);
      return kind === 'min-replicas' ? warning(text) : wrong(text);
    }),
  );
}

function judge(answer: RedisAnswer, allow: readonly string[]): Outcome {
  if (answer.missing !== undefined) return wrong(answer.missing);
  if (answer.problems.length > 0) return judgeProblems(answer.problems, allow);
  if (answer.own === 'stopped')
    return ok(`REDIS_URL is not set, so Docket starts its own ${answer.program} on DATA_DIR.`);
  const { replicas = 0, latencyMs = 0 } = answer;
  const followers =
    replicas === 0 ? '' : ` Its primary has ${replicas === 1 ? 'a replica' : `${replicas} replicas`}.`;
  const where = answer.own === 'running' ? "Docket's own is running" : 'Redis answers at REDIS_URL';
  return ok(
    `${where} (${answer.version}, ${latencyMs.toFixed(1)} ms). It keeps its data on disk, and never drops keys.${followers}`,
  );
}

const SENTINEL_SETTINGS = ['REDIS_SENTINEL_USER', 'REDIS_SENTINEL_PASSWORD'];

/** The settings that lead to Redis. */
const ADDRESS = ['REDIS_URL', 'REDIS_CA', 'REDIS_ALLOW', 'DATA_DIR', ...SENTINEL_SETTINGS];

export const redisChecks: Check[] = [
  {
    id: 'redis',
    title: 'Redis',
    reports: ['REDIS_URL', 'REDIS_CA', ...SENTINEL_SETTINGS],
    needs: ADDRESS,
    run: async ({ redis, settings }) => judge(await redis(), settings.redisAllow),
  },
];
