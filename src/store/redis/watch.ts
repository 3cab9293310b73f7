import { type Redis, ReplyError } from 'ioredis';
import type { Log } from '../../runtime/log.ts';
import type { Timing } from '../../runtime/timing.ts';
import { within } from '../../runtime/within.ts';
import { keys } from '../keys.ts';
import type { RedisAddress, RedisNode } from './address.ts';
import { checkRedis } from './check.ts';
import type { RedisClient } from './client.ts';
import { askTime } from './clock.ts';
import { infoFields, isReadOnlyReplica } from './primary-connector.ts';
import { primaryOf } from './primary-of.ts';
import { problemOfWrite, type RedisProblem } from './problems.ts';
import { isReplaced } from './replaced.ts';
import { type IsReplaced, noteReplicas } from './replicas.ts';

/** Docket does not start with this Redis. The message names the fix of each problem. */
export class RedisUnfit extends Error {
  override readonly name = 'RedisUnfit';
  constructor(problems: readonly RedisProblem[]) {
    super(`Docket can't start with this Redis:\n${problems.map(({ text }) => `  - ${text}`).join('\n')}`);
  }
}

export interface RedisWatchParts {
  address: RedisAddress;
  /** What REDIS_ALLOW names. */
  allow: readonly string[];
  timing: Pick<Timing, 'redisPingMs' | 'redisCheckMs' | 'redisLostMs'>;
  monotonicMs: () => number;
  log: Log;
}

/** How long a connection may leave a ping unanswered before Redis is checked over a new one. */
const PONG_MS = 1000;

/** Problems with which every request is taken, so that an operator need not act at once. */
const WARN_KINDS: RedisProblem['kind'][] = [
  'snapshots',
  'info-forbidden',
  'eviction-unknown',
  'volatile-unknown',
  'no-replica',
];

export const levelOf = (kind: RedisProblem['kind']) => (WARN_KINDS.includes(kind) ? 'warn' : 'error');

interface WatchedConnection {
  connection: RedisClient;
  answeredAtMs: number;
  answers: boolean;
  /** While a ping waits for its answer, no other is sent: they would queue up. */
  pinging: boolean;
}

/** Watches the Redis of one process. */
export function createRedisWatch(parts: RedisWatchParts) {
  const { address, allow, timing, monotonicMs, log } = parts;
  const watched: WatchedConnection[] = [];
  const listeners: ((problems: readonly RedisProblem[]) => void)[] = [];
  let problems: readonly RedisProblem[] = [];
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let healthy = true;
  let stuck = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const isAllowed = ({ allowance }: RedisProblem) => allowance !== undefined && allow.includes(allowance);

  async function reportReplaced(primary: Redis, replicas: readonly RedisNode[]) {
    const replaced = await isReplaced(primary, address, replicas);
    if (replaced) log.warn('left a Redis that takes itself for the primary, which is another one by now');
    return replaced;
  }

  async function ping(one: WatchedConnection) {
    one.answers = false;
    if (one.connection.status !== 'ready' || one.pinging) return;
    one.pinging = true;
    const asked = leadsToPrimary(one.connection, reportReplaced).finally(() => {
      one.pinging = false;
    });
    try {
      one.answers = await within(PONG_MS, asked);
      if (one.answers) one.answeredAtMs = monotonicMs();
      // Reconnect before a request fails on it.
      else one.connection.disconnect(true);
    } catch {
      // `answers` stays false; the connection itself reports the error.
    }
  }

  async function check() {
    const [found, refused] = await Promise.all([checkRedis(address), findRefusedWrite()]);
    updateProblems(refused === undefined ? found : [...found, refused]);
    for (const listener of listeners) listener(problems);
  }

  /** Writes what is gone at once: a full Redis can still be read. */
  async function findRefusedWrite(): Promise<RedisProblem | undefined> {
    const connection = watched.find(({ connection }) => connection.status === 'ready')?.connection;
    try {
      if (connection) await within(PONG_MS, connection.set(keys.probe(), '1', 'PX', 1));
      return undefined;
    } catch (error) {
      return problemOfWrite(error);
    }
  }

  /** Replaces `problems` by what a check found, without what is allowed. */
  function updateProblems(found: readonly RedisProblem[]) {
    checkedAtMs = monotonicMs();
    // The settings of a Redis that is away are unknown, so their problems stay.
    const away = found.some(({ kind }) => kind === 'unreachable');
    const known = away ? problems.filter(({ allowance }) => allowance !== undefined) : [];
    const current = [...found.filter((problem) => !isAllowed(problem)), ...known];
    if (!stopped) report(problems, current);
    problems = current;
  }

  function report(before: readonly RedisProblem[], now: readonly RedisProblem[]) {
    for (const { kind, text } of now) {
      if (before.some((one) => one.kind === kind)) continue;
      log[levelOf(kind)]({ problem: kind }, text);
    }
    for (const { kind } of before)
      if (!now.some((one) => one.kind === kind)) log.info({ problem: kind }, 'a problem of Redis is over');
  }

  async function checkConnections() {
    await Promise.all(watched.map(ping));
    const wasHealthy = healthy;
    healthy = watched.every(({ answers }) => answers);
    const sinceCheckMs = monotonicMs() - checkedAtMs;
    if (healthy !== wasHealthy || !healthy || sinceCheckMs >= timing.redisCheckMs) await check();
    const lost = watched.some(({ answeredAtMs }) => monotonicMs() - answeredAtMs >= timing.redisLostMs);
    const works = problems.every(
      ({ kind, allowance }) => allowance !== undefined || kind === 'info-forbidden' || kind === 'no-replica',
    );
    if (lost && works && !stuck) log.error('this process does not find back to Redis; restart it');
    stuck = lost && works;
  }

  async function checkLoop() {
    await checkConnections().catch((error: unknown) =>
      log.error({ err: error }, 'Redis could not be checked'),
    );
    if (!stopped) timer = setTimeout(checkLoop, timing.redisPingMs);
  }

  return {
    /** Checks Redis now and from then on. Throws `RedisUnfit`; a Redis that is away is waited for. */
    async start() {
      const found = await checkRedis(address);
      const fatal = found.filter((problem) => problem.fatal && !isAllowed(problem));
      if (fatal.length > 0) throw new RedisUnfit(fatal);
      updateProblems(found);
      const allowed = found.filter(isAllowed).map(({ kind }) => kind);
      if (allowed.length > 0) log.warn({ problems: allowed }, 'goes on with what REDIS_ALLOW names');
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
      // Whether there are replicas has to be known before the first write.
      connection.once('ready', () => void ping(one));
    },
    /** Returns the problems that the last check found, without those that REDIS_ALLOW names. */
    problems: (): readonly RedisProblem[] => problems,
    /** Returns whether a connection of this process has had no answer for `redisLostMs`, while a new one works. */
    stuck: (): boolean => stuck,
    /** Calls `listener` with the problems after every check. */
    onCheck: (listener: (problems: readonly RedisProblem[]) => void) => void listeners.push(listener),
  };
}

/** Returns whether a connection leads to a primary; true where INFO is forbidden. Rejects when there is no answer. */
async function leadsToPrimary(connection: RedisClient, isPrimaryReplaced: IsReplaced): Promise<boolean> {
  try {
    const primary = primaryOf(connection);
    // A command that a cluster leads by its key finds the new primary, and the next ping asks that.
    if (primary === undefined) return (await askTime(connection)) > 0;
    const info = infoFields(await primary.info('replication'));
    noteReplicas(connection, info, isPrimaryReplaced);
    return !isReadOnlyReplica(info);
  } catch (error) {
    if (error instanceof ReplyError) return true;
    throw error;
  }
}
