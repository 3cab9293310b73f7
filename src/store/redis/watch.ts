import type { Log } from '../../runtime/log.ts';
import { OperatorError } from '../../runtime/operator-error.ts';
import type { Timing } from '../../runtime/timing.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { keys } from '../keys.ts';
import type { RedisAddress } from './address.ts';
import {
  checkRedis,
  isAllowed,
  isFatal,
  isReadOnlyReplica,
  problemOfWrite,
  type RedisProblem,
} from './check.ts';
import { infoFields, primaryOf, type RedisClient } from './client.ts';
import { askTime } from './clock.ts';
import { noteReplicas } from './lua.ts';

export interface RedisWatchParts {
  address: RedisAddress;
  /** The names in REDIS_ALLOW. */
  allow: readonly string[];
  timing: Pick<Timing, 'redisPingMs' | 'redisCheckMs'>;
  monotonicMs: () => number;
  log: Log;
}

/** How long a ping may be unanswered before Redis is checked over a new connection. */
const PONG_MS = 1000;

/** Watches the Redis of one process: pings its connections, and checks Redis itself over new ones. */
export function createRedisWatch({ address, allow, timing, monotonicMs, log }: RedisWatchParts) {
  const connections: RedisClient[] = [];
  let problems: readonly RedisProblem[] = [];
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let wasHealthy = true;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  /** Returns whether a connection reaches a primary, and records whether that has replicas. */
  async function ping(connection: RedisClient): Promise<boolean> {
    if (connection.status !== 'ready') return false;
    // The connection itself reports the error.
    const isPrimary = await withTimeout(PONG_MS, askRole(connection)).catch(() => undefined);
    // A new connection may reach the primary before a request fails on this one.
    if (isPrimary === false) connection.disconnect(true);
    return isPrimary ?? false;
  }

  /** Makes a write that expires at once, since a full Redis still answers reads. */
  async function findRefusedWrite(): Promise<RedisProblem[]> {
    const ready = connections.find(({ status }) => status === 'ready');
    const writing = ready && withTimeout(PONG_MS, ready.set(keys.probe(), '1', 'PX', 1));
    const problem = await writing?.then(() => undefined, problemOfWrite);
    return problem ? [problem] : [];
  }

  /** Replaces `problems` by the newly found ones that are not allowed, and logs the changes. */
  function updateProblems(found: readonly RedisProblem[]) {
    checkedAtMs = monotonicMs();
    if (stopped) return;
    const before = problems;
    problems = found.filter((problem) => !isAllowed(problem, allow));
    const isIn = (list: readonly RedisProblem[], kind: string) => list.some((one) => one.kind === kind);
    for (const problem of problems)
      if (!isIn(before, problem.kind)) log[problem.level]({ problem: problem.kind }, problem.text);
    for (const { kind } of before)
      if (!isIn(problems, kind)) log.info({ problem: kind }, 'a problem of Redis is over');
  }

  async function check() {
    const answers = await Promise.all(connections.map(ping));
    const isHealthy = answers.every(Boolean);
    const isDue = monotonicMs() - checkedAtMs >= timing.redisCheckMs;
    if (!isHealthy || !wasHealthy || isDue) {
      const [checked, refused] = await Promise.all([checkRedis(address), findRefusedWrite()]);
      updateProblems([...checked.problems, ...refused]);
    }
    wasHealthy = isHealthy;
  }

  async function checkLoop() {
    await check().catch((error: unknown) => log.error({ err: error }, 'Redis could not be checked'));
    if (!stopped) timer = setTimeout(checkLoop, timing.redisPingMs);
  }

  return {
    /** Checks Redis now and at intervals. Throws `OperatorError`; waits for a Redis that is away. */
    async start() {
      const { problems: found } = await checkRedis(address);
      const fatal = found.filter((problem) => isFatal(problem) && !isAllowed(problem, allow));
      if (fatal.length > 0) {
        const texts = fatal.map(({ text }) => `  - ${text}`).join('\n');
        throw new OperatorError(`Docket can't start with this Redis:\n${texts}`);
      }
      updateProblems(found);
      const allowed = found.filter((problem) => isAllowed(problem, allow)).map(({ kind }) => kind);
      if (allowed.length > 0) log.warn({ problems: allowed }, 'REDIS_ALLOW accepts problems of this Redis');
      timer = setTimeout(checkLoop, timing.redisPingMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    /** Pings this connection from now on. */
    add(connection: RedisClient) {
      connections.push(connection);
      // The first write has to know whether there are replicas.
      connection.once('ready', () => void ping(connection));
    },
    /** Returns the problems of the last check, without those in REDIS_ALLOW. */
    problems: (): readonly RedisProblem[] => problems,
  };
}

/** Returns whether a connection reaches a primary, and records whether that has replicas. Rejects without an answer. */
async function askRole(connection: RedisClient): Promise<boolean> {
  const primary = primaryOf(connection);
  // A command with a key finds a cluster's new primary, and the next ping asks that one.
  if (primary === undefined) return (await askTime(connection)) > 0;
  const info = infoFields(await primary.info('replication'));
  noteReplicas(connection, info);
  return !isReadOnlyReplica(info);
}
