import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Timing } from '../../runtime/timing.ts';
import { tryOr } from '../../runtime/try-or.ts';
import type { RedisClient } from './client.ts';

/**
 * The address of Redis: a URL (`redis://…`, `rediss://…`, with `+sentinel` or `+cluster` several hosts), with the
 * certificate of a private authority as PEM, or the path of a unix socket.
 */
export type RedisAddress =
  | {
      url: string;
      ca?: string | undefined;
      sentinelUser?: string | undefined;
      sentinelPassword?: string | undefined;
    }
  | { socketPath: string };

/** The parts of a URL. */
export interface RedisUrl {
  kind: 'server' | 'sentinel' | 'cluster';
  tls: boolean;
  /** Exactly one for a server. */
  nodes: { host: string; port: number }[];
  username: string | undefined;
  password: string | undefined;
  /** The text after the hosts and a slash: a database, the name of a primary, or a Docket's name in a cluster. */
  path: string;
}

/** A query, such as `?family=6`, is ignored. */
const URL_FORM =
  /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^@/?#]*)(?:\/([^?#@]*))?(?:\?[^#@]*)?$/;
const DEFAULT_PORTS = { server: 6379, sentinel: 26379, cluster: 6379 };

/** Returns the parts of a URL; undefined if it is invalid. The path is not checked. */
export function readRedisUrl(url: string): RedisUrl | undefined {
  const [, scheme, group, credentials = '', hosts, path = ''] = URL_FORM.exec(url) ?? [];
  if (hosts === undefined) return undefined;
  const kind = group === 'sentinel' || group === 'cluster' ? group : 'server';
  const names = kind === 'server' ? [hosts.replace(/^(?=:|$)/, 'localhost')] : hosts.split(',');
  const nodes = names.map((name) => readNode(name.trim(), DEFAULT_PORTS[kind]));
  if (!nodes.every((node) => node !== undefined)) return undefined;
  const [username = '', ...password] = credentials.split(':');
  return {
    kind,
    tls: scheme === 'rediss',
    nodes,
    path,
    username: decodeCredential(username) || undefined,
    password: decodeCredential(password.join(':')) || undefined,
  };
}

/** Reads `host`, `host:port` or `[address]:port`. */
function readNode(text: string, defaultPort: number) {
  const [, v6, host = v6, port = String(defaultPort)] =
    /^(?:\[([0-9a-fA-F:.]{2,45})\]|([\w.-]{1,253}))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}

/** Returns the name that separates a Docket's keys from others in its cluster, which has only one database. */
export function tagNameOf(address: RedisAddress): string | undefined {
  const { kind, path } = ('url' in address && readRedisUrl(address.url)) || {};
  return kind === 'cluster' && path !== '' ? path : undefined;
}

/** Returns the options of all connections: Docket's credentials, and TLS. */
function credentialsOf({ username, password, tls }: RedisUrl, address: RedisAddress) {
  const ca = 'url' in address ? address.ca : undefined;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: ca === undefined ? {} : { ca } }),
  };
}

/** Returns a name or password of an address decoded, or unchanged if a `%` in it encodes nothing. */
export const decodeCredential = (text: string): string => tryOr(text, () => decodeURIComponent(text));

/** Called with every error of a connection; none holds a secret. */
export type OnConnectionError = (error: Error) => void;

/**
 * Returns a connection for request handlers. Its commands fail at once while Redis is away, and after `intakeMs` if
 * Redis hangs; it reconnects by itself. Never give it to a BullMQ worker: the time limit kills its blocking read.
 */
export function connectForRequests(address: RedisAddress, timing: Timing, onError: OnConnectionError) {
  const redis = connect(address, onError, {
    waits: false,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
    options: {
      maxRetriesPerRequest: 0,
      commandTimeout: timing.intakeMs,
      ...socketLimits(timing.redisRequestSocketMs),
      autoResendUnfulfilledCommands: false,
    },
  });
  return leaveWrongDatabase(redis);
}

/** Returns a connection for background work: commands wait until Redis is back. Duplicates are for blocking reads. */
export function connectForWork(address: RedisAddress, timing: Timing, onError: OnConnectionError) {
  const redis = connect(address, onError, {
    waits: true,
    retryStrategy: (attempt) => Math.min(100 * attempt, 1000),
    options: { maxRetriesPerRequest: null, ...socketLimits(timing.redisWorkSocketMs) },
  });
  return withBlockingReads(leaveWrongDatabase(redis), socketLimits(timing.redisBlockingSocketMs));
}

/** Reconnects if SELECT fails: ioredis would continue in database 0, which may have another Docket's data. */
function leaveWrongDatabase<Client extends RedisClient>(redis: Client): Client {
  redis.on('error', (error: Error & { command?: { name: string } }) => {
    if (error.command?.name === 'select') redis.disconnect(true);
  });
  return redis;
}

/** How long connecting may take during a check, and each answer after it. */
export const ANSWER_MS = 1000;

/** Returns a connection for one check, to be opened with `connect`. It never reconnects, and its commands then fail. */
export const connectForCheck = (address: RedisAddress, onError: OnConnectionError): RedisClient =>
  connect(address, onError, {
    waits: true,
    retryStrategy: () => null,
    options: {
      lazyConnect: true,
      // A server that loads its data also answers INFO.
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 2 * ANSWER_MS,
      ...socketLimits(2 * ANSWER_MS),
    },
  });

/** How long an abandoned connection may take to close before it is destroyed. */
const GIVE_UP_MS = 200;

/** BullMQ duplicates connections for its blocking reads, which wait longer than any other command. */
function withBlockingReads(redis: RedisClient, limits: ReturnType<typeof socketLimits>): RedisClient {
  if (redis instanceof Cluster) {
    const duplicate = redis.duplicate.bind(redis);
    redis.duplicate = (nodes, override) =>
      duplicate(nodes, { ...override, redisOptions: { ...override?.redisOptions, ...limits } });
    return redis;
  }
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (override) => {
    const blocking = leaveWrongDatabase(duplicate({ ...override, ...limits, disconnectTimeout: GIVE_UP_MS }));
    // If one connection goes silent, the others do as well. The blocking one would notice it only after its long read.
    redis.on('reconnecting', () => {
      if (blocking.status === 'ready') blocking.disconnect(true);
    });
    return blocking;
  };
  return redis;
}

/** Returns limits that end a connection whose other end vanished. ioredis counts only while a command waits. */
const socketLimits = (ms: number) => ({ socketTimeout: ms, connectTimeout: ms });

/** Errors of a server that is no longer the primary, or still loads. In a script's error, the word may be anywhere. */
const NOT_PRIMARY = /\b(READONLY|LOADING|MASTERDOWN)\b/;

/** 1: reconnect, and the command fails. With 2 it would wait as long as the primary is away. */
const reconnectOnError = (error: Error) => (NOT_PRIMARY.test(error.message) ? 1 : false);

interface ConnectionKind {
  /** Whether commands wait while Redis is away, and are sent again if their answer was lost. */
  waits: boolean;
  retryStrategy: (attempt: number) => number | null;
  options: Omit<RedisOptions, 'replyMapping'>;
}

function connect(address: RedisAddress, onError: OnConnectionError, kind: ConnectionKind): RedisClient {
  const url = 'url' in address ? readRedisUrl(address.url) : undefined;
  if (url?.kind === 'cluster') return connectToCluster(url, credentialsOf(url, address), onError, kind);
  const { waits, retryStrategy, options } = kind;
  const common = {
    disableClientInfo: true,
    ...options,
    enableOfflineQueue: waits,
    retryStrategy,
    sentinelRetryStrategy: retryStrategy,
    reconnectOnError,
  };
  const redis = new Redis({ ...targetOf(address, url), ...common });
  redis.on('error', onError);
  redis.on('sentinelError', onError);
  return redis;
}

/** ioredis' own connector asks the sentinels before each connection, and rejects servers that are not the primary. */
function targetOf(address: RedisAddress, url: RedisUrl | undefined) {
  if ('socketPath' in address) return { path: address.socketPath };
  if (url === undefined) throw new Error('the address of Redis is invalid');
  const credentials = credentialsOf(url, address);
  if (url.kind === 'server') return { ...url.nodes[0], db: Number(url.path), ...credentials };
  const [name = '', db = '0'] = url.path.split('/');
  const { sentinelUser, sentinelPassword } = address;
  return {
    sentinels: url.nodes,
    name,
    db: Number(db),
    role: 'master' as const,
    ...credentials,
    // A sentinel that is down or silent causes no long delay: the next one is asked.
    sentinelCommandTimeout: SENTINEL_MS,
    ...(sentinelUser !== undefined && { sentinelUsername: sentinelUser }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(credentials.tls && { sentinelTLS: credentials.tls, enableTLSForSentinelMode: true }),
  };
}

const SENTINEL_MS = 1000;

/** If a cluster loses a node, others take over; a waiting command is sent until one does. */
const CLUSTER_RETRY_MS = 100;

/**
 * ioredis may lose a blocking read during a cluster failover. The read counts as empty half a second after its own
 * limit. A second after the limit, BullMQ would close the connection, and a worker may not recover from that.
 */
const blockingLimits = { blockingTimeout: 15_000, blockingTimeoutGrace: 500 };

function connectToCluster(
  { nodes }: RedisUrl,
  credentials: ReturnType<typeof credentialsOf>,
  onError: OnConnectionError,
  { waits, retryStrategy, options }: ConnectionKind,
): Cluster {
  const cluster = new Cluster(nodes, {
    redisOptions: {
      disableClientInfo: true,
      reconnectOnError,
      ...options,
      ...blockingLimits,
      ...credentials,
    },
    clusterRetryStrategy: retryStrategy,
    lazyConnect: options.lazyConnect ?? false,
    enableOfflineQueue: waits,
    // Unchanged, so that a certificate is checked against the name and not the address.
    dnsLookup: (host, callback) => callback(null, host),
    // 0: the answer was lost, so the command may have been executed. Its sender decides.
    retryDelayOnFailover: waits ? CLUSTER_RETRY_MS : 0,
    retryDelayOnClusterDown: waits ? CLUSTER_RETRY_MS : 0,
    ...(waits && { maxRedirections: Number.POSITIVE_INFINITY, retryDelayOnMoved: CLUSTER_RETRY_MS }),
  });
  cluster.on('error', onError);
  cluster.on('node error', onError);
  return cluster;
}
