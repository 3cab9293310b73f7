import type { Log } from '../../runtime/log.ts';
import type { Timing } from '../../runtime/timing.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { keys } from '../keys.ts';
import type { RedisAddress } from './address.ts';
import { checkRedis } from './check.ts';
import { infoFields, primaryOf, type RedisClient } from './client.ts';
import { askTime } from './clock.ts';
import { isReadOnlyReplica, problemOfWrite, type RedisProblem } from './problems.ts';
import { noteReplicas } from './replicas.ts';

/** Docket does not start with this Redis. The message names the fix of each problem. */
export class RedisUnfit extends Error {
  override readonly name = 'RedisUnfit';
  constructor(problems: readonly RedisProblem[]) {
    super(`Docket can't start with this Redis:\n${problems.map(({ text }) => `  - ${text}`).join('\n')}`);
  }
}

export interface RedisWatchParts {
  address: RedisAddress;
  /** The names in REDIS_ALLOW. */
  allow: readonly string[];
  timing: Pick<Timing, 'redisPingMs' | 'redisCheckMs' | 'redisLostMs'>;
  monotonicMs: () => number;
  log: Log;
}

/** How long a ping may be unanswered before Redis is checked over a new connection. */
const PONG_MS = 1000;

/** Returns how urgent a problem is: with a `warn`, requests are still accepted. */
export const levelOf = (kind: RedisProblem['kind']) => (kind === 'min-replicas' ? 'warn' : 'error');

interface WatchedConnection {
  connection: RedisClient;
  answeredAtMs: number;
  answers: boolean;
  /** While a ping waits for its answer, no other is sent: they would queue up. */
  pinging: boolean;
}

/** Watches the Redis of one process: pings its connections, and checks Redis itself over new ones. */
export function createRedisWatch({ address, allow, timing, monotonicMs, log }: RedisWatchParts) {
  const watched: WatchedConnection[] = [];
  let problems: readonly RedisProblem[] = [];
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let healthy = true;
  let stuck = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const isAllowed = ({ allowance }: RedisProblem) => allowance !== undefined && allow.includes(allowance);

  async function ping(one: WatchedConnection) {
    one.answers = false;
    if (one.connection.status !== 'ready' || one.pinging) return;
    one.pinging = true;
    const asked = askRole(one.connection).finally(() => {
      one.pinging = false;
    });
    try {
      one.answers = await withTimeout(PONG_MS, asked);
      if (one.answers) one.answeredAtMs = monotonicMs();
      // A new connection may reach the primary before a request fails on this one.
      else one.connection.disconnect(true);
    } catch {
      // `answers` stays false; the connection itself reports the error.
    }
  }

  async function check() {
    const [{ problems: found }, refused] = await Promise.all([checkRedis(address), findRefusedWrite()]);
    updateProblems(refused === undefined ? found : [...found, refused]);
  }

  /** Makes a write that expires at once, since a full Redis still answers reads. */
  async function findRefusedWrite(): Promise<RedisProblem | undefined> {
    const connection = watched.find(({ connection }) => connection.status === 'ready')?.connection;
    try {
      if (connection) await withTimeout(PONG_MS, connection.set(keys.probe(), '1', 'PX', 1));
      return undefined;
    } catch (error) {
      return problemOfWrite(error);
    }
  }

  /** Replaces `problems` by the newly found ones that are not allowed, and logs the changes. */
  function updateProblems(found: readonly RedisProblem[]) {
    checkedAtMs = monotonicMs();
    if (stopped) return;
    const before = problems;
    problems = found.filter((problem) => !isAllowed(problem));
    for (const { kind, text } of problems)
      if (!before.some((one) => one.kind === kind)) log[levelOf(kind)]({ problem: kind }, text);
    for (const { kind } of before)
      if (!problems.some((one) => one.kind === kind))
        log.info({ problem: kind }, 'a problem of Redis is over');
  }

  async function checkConnections() {
    await Promise.all(watched.map(ping));
    const wasHealthy = healthy;
    healthy = watched.every(({ answers }) => answers);
    if (healthy !== wasHealthy || !healthy || monotonicMs() - checkedAtMs >= timing.redisCheckMs)
      await check();
    const lost = watched.some(({ answeredAtMs }) => monotonicMs() - answeredAtMs >= timing.redisLostMs);
    const works = problems.every(({ kind, allowance }) => allowance !== undefined || kind === 'min-replicas');
    if (lost && works && !stuck) log.error('lost Redis and cannot reconnect; restart this process');
    stuck = lost && works;
  }

  async function checkLoop() {
    await checkConnections().catch((error: unknown) =>
      log.error({ err: error }, 'Redis could not be checked'),
    );
    if (!stopped) timer = setTimeout(checkLoop, timing.redisPingMs);
  }

  return {
    /** Checks Redis now and at intervals. Throws `RedisUnfit`; waits for a Redis that is away. */
    async start() {
      const { problems: found } = await checkRedis(address);
      const fatal = found.filter((problem) => problem.fatal && !isAllowed(problem));
      if (fatal.length > 0) throw new RedisUnfit(fatal);
      updateProblems(found);
      const allowed = found.filter(isAllowed).map(({ kind }) => kind);
      if (allowed.length > 0) log.warn({ problems: allowed }, 'REDIS_ALLOW accepts problems of this Redis');
      timer = setTimeout(checkLoop, timing.redisPingMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    /** Pings this connection from now on; it counts for `stuck`. */
    add(connection: RedisClient) {
      const one = { connection, answeredAtMs: monotonicMs(), answers: true, pinging: false };
      watched.push(one);
      // The first write has to know whether there are replicas.
      connection.once('ready', () => void ping(one));
    },
    /** Returns the problems of the last check, without those in REDIS_ALLOW. */
    problems: (): readonly RedisProblem[] => problems,
    /** Returns whether a connection of this process had no answer for `redisLostMs`, while a new one works. */
    stuck: (): boolean => stuck,
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
