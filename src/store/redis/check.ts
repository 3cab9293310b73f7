import { createThrottledWarn, type Log } from '../../runtime/log.ts';
import { OperatorError } from '../../runtime/operator-error.ts';
import { repeat } from '../../runtime/stopping.ts';
import type { Timing } from '../../runtime/timing.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { keys } from '../keys.ts';
import { infoFields, primaryOf, type RedisClient } from './client.ts';
import { askTime } from './clock.ts';
import { ANSWER_MS, connectForCheck, type RedisAddress, readRedisUrl } from './connections.ts';
import { createLatencyWatch } from './latency.ts';
import { noteReplicas } from './lua.ts';
import { missingRights } from './rights.ts';

/** The text of each kind, for operators: the problem with its fix. `…` stands for a word of the server. */
const TEXTS = {
  unreachable:
    "Redis isn't answering (…). Check that it runs, that REDIS_URL leads to it, and that REDIS_URL begins " +
    'with rediss if it expects TLS; Docket then resumes by itself.',
  address:
    'REDIS_URL leads to …. Write redis:// for one server, redis+sentinel:// for sentinels (port 26379 by default, ' +
    'all with commas between them, and the name after "sentinel monitor" at the end), redis+cluster:// for a cluster; ' +
    'with TLS rediss in place of redis.',
  certificate:
    'The certificate of Redis is not accepted. It must be valid now, name the host that REDIS_URL or a sentinel names, ' +
    'and be signed by an authority that Docket knows: set REDIS_CA to the PEM file of yours. The log has the error.',
  password:
    'Redis rejects the name or the password in REDIS_URL, or requires one. Copy them again; in them, / # ? @ are ' +
    'written %2F %23 %3F %40. Sentinels have their own: REDIS_SENTINEL_USER and REDIS_SENTINEL_PASSWORD.',
  database:
    'Redis does not have the database at the end of REDIS_URL. Use one that exists (0 to 15, unless ' +
    'its setting "databases" says otherwise; in a cluster 0 only).',
  rights:
    "Docket's user of Redis lacks rights (…): requests are refused, and work waits. docs/scaling.md has the line that " +
    'grants what Docket needs.',
  'too-old': 'Redis … is too old. Docket needs Redis 6.2 or newer, or Valkey.',
  'read-only':
    'Redis is a read-only replica: nothing can be saved, and every request is refused. Point REDIS_URL to the primary; ' +
    'Docket then resumes by itself.',
  eviction:
    'Redis drops keys when it is full (maxmemory-policy …): accepted work would be lost or ' +
    'done twice. Run "redis-cli CONFIG SET maxmemory-policy noeviction", and set it in redis.conf too. With ' +
    'REDIS_ALLOW=eviction Docket starts anyway.',
  volatile:
    'Redis keeps no append-only file: when it restarts, accepted work is lost or done twice. Run "redis-cli CONFIG SET ' +
    'appendonly yes", and set it in redis.conf too. With REDIS_ALLOW=volatile Docket starts anyway.',
  'min-replicas':
    'Redis has replicas, but min-replicas-to-write is 0: a primary that was cut off or frozen while another took its place ' +
    'would go on accepting work, which is then lost. Set min-replicas-to-write 1 and min-replicas-max-lag 10, with two ' +
    'replicas or more; docs/scaling.md says why.',
  full:
    'Redis is full: nothing can be saved, and every request is refused. Raise its maxmemory, or free memory; Docket then ' +
    'resumes by itself.',
  'refuses-writes':
    'Redis refuses writes (…): nothing can be saved, and every request is refused. MISCONF is a ' +
    'full disk, NOREPLICAS too few replicas. Docket then resumes by itself.',
  slow:
    'Redis is slow: for a minute, more than one in a hundred commands has taken over 200 ms. Check the slow log, the disk ' +
    'and the memory of Redis, the network, and the load of both machines.',
};

const OWN_UNREACHABLE =
  "Docket's own Redis isn't answering. If it has ended, Docket restarts it, and the log says why it ended. If it hangs, " +
  'end its process (redis.pid in DATA_DIR/redis names it): confirmed writes are on disk.';

/** In place of a code, for what has none. */
const NO_ANSWER = 'no answer';

type RedisProblemKind = keyof typeof TEXTS;

/** A problem of Redis. `text` is for operators, names the fix, and holds no secret. */
export interface RedisProblem {
  kind: RedisProblemKind;
  /** With a `warn`, requests are still accepted. */
  level: 'error' | 'warn';
  text: string;
}

const problemOf = (kind: RedisProblemKind, word = ''): RedisProblem => ({
  kind,
  level: kind === 'min-replicas' || kind === 'slow' ? 'warn' : 'error',
  text: TEXTS[kind].replace('…', word.replace(/[^\w. ,'-]/g, '').slice(0, 50)),
});

/** Problems that pass by themselves, or with which requests are still accepted. */
const PASSING = /^(?:unreachable|read-only|min-replicas|full|refuses-writes|slow)$/;

/** Returns whether Docket refuses to start with a problem, since it does not pass by itself. */
export const isFatal = ({ kind }: RedisProblem): boolean => !PASSING.test(kind);

/** Returns whether REDIS_ALLOW, which lists kinds, makes Docket accept a problem. */
export const isAllowed = ({ kind }: RedisProblem, allow: readonly string[]) => allow.includes(kind);

/** Returns the problems of a Redis, from the fields of its INFO. A missing field counts as good. */
export function problemsOf(info: Record<string, string>, address: RedisAddress): RedisProblem[] {
  // Valkey has another name for the field.
  const mode = info.redis_mode ?? info.server_mode;
  const isCluster = 'url' in address && readRedisUrl(address.url)?.kind === 'cluster';
  if (mode === 'sentinel') return [problemOf('address', 'a sentinel')];
  if (mode === 'cluster' && !isCluster) return [problemOf('address', 'a node of a cluster')];
  const { redis_version: version = '', maxmemory_policy: policy = 'noeviction' } = info;
  const hasReplicas = Number(info.connected_slaves ?? 0) > 0 && info.role === 'master';
  return [
    isTooOld(version) && problemOf('too-old', version),
    isReadOnlyReplica(info) && problemOf('read-only'),
    policy !== 'noeviction' && problemOf('eviction', policy),
    // While Redis loads its file, it says that it has none.
    info.aof_enabled === '0' && info.loading !== '1' && problemOf('volatile'),
    hasReplicas && info.min_slaves_good_slaves === undefined && problemOf('min-replicas'),
  ].filter((problem) => problem !== false);
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.', 2).map(Number);
  return version !== '' && (major < 6 || (major === 6 && minor < 2));
}

/** Returns whether these fields of INFO come from a server that refuses writes. */
const isReadOnlyReplica = (info: Record<string, string>): boolean =>
  info.role === 'slave' && info.slave_read_only !== '0';

/** Returns the problem behind a refused write, unless a check reports another one, or it passes quickly. */
function problemsOfWrite(refusal = NO_ANSWER): RedisProblem[] {
  if (PASSING_REFUSALS.test(refusal)) return [];
  return [refusal === 'OOM' ? problemOf('full') : problemOf('refuses-writes', refusal)];
}

const PASSING_REFUSALS = /^(?:no answer|READONLY|NOPERM|NOAUTH|LOADING|MOVED|ASK|CLUSTERDOWN|TRYAGAIN)$/;

/** Errors of a new connection that do not pass by themselves, and the problem of each. */
const REFUSALS: [pattern: RegExp, kind: RedisProblemKind, word?: string][] = [
  [/\b(?:WRONGPASS|NOAUTH|DENIED|ERR invalid password|ERR AUTH)/, 'password'],
  [/DB index is out of range|invalid DB index|SELECT is not allowed/, 'database'],
  [/CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/, 'certificate'],
  [/No such master with that name|got an invalid reply: null/, 'address', 'sentinels without such a primary'],
  [/unknown command .?sentinel/i, 'address', 'no sentinel'],
  [/cluster support disabled/, 'address', 'no cluster'],
  [
    /Unknown RESP type|Protocol error|ERR_SSL_WRONG_VERSION|ERR_SSL_PACKET_LENGTH|ERR_SSL_HTTP_REQUEST/,
    'address',
    'no Redis, or to one without TLS',
  ],
];

/** Returns the problem of a user without the rights to these commands, or to `keys`; the first two are named. */
function rightsProblem(missing: readonly string[]): RedisProblem {
  const named = missing
    .slice(0, 2)
    .map((name) => (name === 'keys' ? "Docket's keys" : name.replace('|', ' ')));
  const rest = missing.length - named.length;
  return problemOf('rights', named.join(', ') + (rest > 0 ? ` and ${rest} more` : ''));
}

/** Returns the problem behind the errors of a new connection. */
function problemOfError(errors: readonly unknown[], address: RedisAddress): RedisProblem {
  const texts = errors.map(textOf);
  for (const [pattern, kind, word] of REFUSALS)
    if (texts.some((text) => pattern.test(text))) return problemOf(kind, word);
  const denied = texts.find((text) => text.includes('NOPERM'));
  if (denied !== undefined) return rightsProblem([/the '([\w|-]{1,40})'/.exec(denied)?.[1] ?? 'keys']);
  if ('socketPath' in address) return { ...problemOf('unreachable'), text: OWN_UNREACHABLE };
  const code = texts.map((text) => /\bE[A-Z]{4,}/.exec(text)?.[0]).find((found) => found !== undefined);
  return problemOf('unreachable', code ?? NO_ANSWER);
}

/** Returns the code and message of an error, and of the cause of a cluster's error. */
function textOf(error: unknown): string {
  const { code, message, lastNodeError } = (error ?? {}) as Record<string, unknown>;
  const own = [code, message].filter((part) => typeof part === 'string').join(' ');
  return lastNodeError === undefined ? own : `${own} ${textOf(lastNodeError)}`;
}

/** Makes a write that expires at once, since a full Redis still answers reads. Returns why it is refused, if it is. */
const refusalOfWrite = (redis: RedisClient): Promise<string | undefined> =>
  withTimeout(ANSWER_MS, redis.set(keys.probe(), '1', 'PX', 1)).then(
    () => undefined,
    ({ message }: Error) => /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? NO_ANSWER,
  );

/**
 * Checks Redis over a new connection, also the rights of Docket's user, and changes nothing. Returns its problems, and
 * its version if it answers. With `writes`, it also makes a write, and returns the code of its refusal, if any. Never
 * rejects.
 */
export async function checkRedis(address: RedisAddress, { writes } = { writes: false }) {
  const errors: unknown[] = [];
  let refusal: Awaited<ReturnType<typeof refusalOfWrite>> | undefined;
  const client = connectForCheck(address, (error) => errors.push(error));
  try {
    await withTimeout(3 * ANSWER_MS, client.connect());
    const redis = primaryOf(client);
    if (redis === undefined) throw new Error('no primary');
    const info = infoFields(await withTimeout(ANSWER_MS, redis.info()));
    // A failed SELECT does not end the connection, which then continues in database 0.
    if (errors.length > 0) throw errors[0];
    // An error of these would end the connection, see `reconnectOnError`.
    const isPrimary = !isReadOnlyReplica(info) && info.loading !== '1';
    if (writes && isPrimary) refusal = await refusalOfWrite(client);
    const missing = isPrimary ? await withTimeout(ANSWER_MS, missingRights(redis)) : [];
    return {
      problems: [...problemsOf(info, address), ...(missing.length > 0 ? [rightsProblem(missing)] : [])],
      version: info.valkey_version ? `Valkey ${info.valkey_version}` : `Redis ${info.redis_version}`,
      refusal,
    };
  } catch (error) {
    return { problems: [problemOfError([...errors, error], address)], refusal };
  } finally {
    client.disconnect();
  }
}

interface RedisWatchParts {
  address: RedisAddress;
  /** The names in REDIS_ALLOW. */
  allow: readonly string[];
  timing: Pick<Timing, 'redisPingMs' | 'redisCheckMs' | 'redisSlowMs'>;
  monotonicMs: () => number;
  /** Called with the duration of each answer of the connections, in milliseconds. */
  onAnswer: (ms: number) => void;
  /** Whether the disk of Docket's own Redis is full, which is a problem of its own and explains all others. */
  isDiskFull?: (() => boolean) | undefined;
  log: Log;
  /** Once it is aborted, Redis is not checked again. */
  stopping: AbortSignal;
}

/** How long a ping may be unanswered before Redis is checked over a new connection. */
const PONG_MS = 1000;

const MAX_UNEXPLAINED = 10;

/** Watches the Redis of one process: pings its connections, and checks Redis itself over new ones. */
export function createRedisWatch(parts: RedisWatchParts) {
  const { address, allow, timing, monotonicMs, onAnswer: observe, log, stopping } = parts;
  const { isDiskFull = () => false } = parts;
  const connections: RedisClient[] = [];
  const latency = createLatencyWatch({ slowMs: timing.redisSlowMs, monotonicMs, observe });
  const warn = createThrottledWarn(log, monotonicMs);
  let problems: readonly RedisProblem[] = [];
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let wasHealthy = true;
  let wasSlow = false;
  /** Errors until the next check, which may find a problem that explains them. */
  const unexplained: Error[] = [];

  /** Returns whether a connection reaches a primary, and records whether that has replicas. */
  async function ping(connection: RedisClient): Promise<boolean> {
    if (connection.status !== 'ready') return false;
    // The connection itself reports the error.
    const isPrimary = await withTimeout(PONG_MS, askRole(connection)).catch(() => undefined);
    // A new connection may reach the primary before a request fails on this one.
    if (isPrimary === false) connection.disconnect(true);
    return isPrimary ?? false;
  }

  /** With these, Redis takes commands, so they explain no error. */
  const isHarmless = ({ kind, level }: RedisProblem) =>
    level === 'warn' || ['eviction', 'volatile', 'too-old'].includes(kind);
  const isExplained = () => problems.some((problem) => !isHarmless(problem)) || isDiskFull();

  /** Replaces `problems` by the newly found ones that are not allowed. */
  function updateProblems(found: readonly RedisProblem[]) {
    checkedAtMs = monotonicMs();
    if (stopping.aborted) return;
    problems = isDiskFull() ? [] : found.filter((problem) => !isAllowed(problem, allow));
  }

  async function check() {
    const answers = await Promise.all(connections.map(ping));
    const isHealthy = answers.every(Boolean);
    const isDue = unexplained.length > 0 || monotonicMs() - checkedAtMs >= timing.redisCheckMs;
    const isSlow = latency.isSlow();
    if (!isHealthy || !wasHealthy || isDue || isSlow !== wasSlow) {
      // Those that come during this check wait for the next one.
      const errors = unexplained.splice(0);
      const { problems: found, refusal } = await checkRedis(address, { writes: true });
      updateProblems([...found, ...problemsOfWrite(refusal), ...(isSlow ? [problemOf('slow')] : [])]);
      if (!isExplained()) for (const error of errors) warn(error, 'trouble with Redis');
    }
    wasHealthy = isHealthy;
    wasSlow = isSlow;
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
      const logFailure = (error: unknown) => log.error({ err: error }, 'Redis could not be checked');
      void repeat(
        stopping,
        () => timing.redisPingMs,
        () => check().catch(logFailure),
      );
    },
    /** Pings this connection and times its answers from now on. */
    add(connection: RedisClient) {
      connections.push(connection);
      latency.add(connection);
      // The first write has to know whether there are replicas.
      connection.once('ready', () => void ping(connection));
    },
    /** Has Redis checked with the next ping, and logs this error unless a problem explains it. */
    report(error: Error) {
      if (isExplained()) return log.debug({ err: error }, 'trouble with Redis');
      if (unexplained.length < MAX_UNEXPLAINED) unexplained.push(error);
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
