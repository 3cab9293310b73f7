import { Redis } from 'ioredis';
import type { Timing } from '../../runtime/timing.ts';
import { type RedisAddress, serverOf } from './address.ts';
import { PrimaryConnector } from './primary-connector.ts';

/** Called with every error of a connection; none holds a secret. */
export type OnConnectionError = (error: Error) => void;

/**
 * Returns a connection for request handlers. Its commands fail at once while Redis is away, and after `intakeMs` when
 * Redis hangs; it reconnects by itself. Never give it to a BullMQ worker: the time limit kills its blocking read.
 */
export function connectForRequests(
  address: RedisAddress,
  { intakeMs, redisRequestSocketMs }: Pick<Timing, 'intakeMs' | 'redisRequestSocketMs'>,
  onError: OnConnectionError,
): Redis {
  return connect(address, onError, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: intakeMs,
    ...socketLimits(redisRequestSocketMs),
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
  });
}

/** Returns a connection for work in the background: its commands wait until Redis is back. */
export function connectForWork(
  address: RedisAddress,
  { redisWorkSocketMs }: Pick<Timing, 'redisWorkSocketMs'>,
  onError: OnConnectionError,
): Redis {
  return connect(address, onError, {
    maxRetriesPerRequest: null,
    ...socketLimits(redisWorkSocketMs),
    retryStrategy: (attempt) => Math.min(100 * attempt, 1000),
  });
}

/**
 * ioredis counts these only while a command waits for its answer, so an idle connection lives on. They end a
 * connection whose other end vanished without closing it.
 */
const socketLimits = (ms: number) => ({ socketTimeout: ms, connectTimeout: ms });

/**
 * Errors of a server that is no longer the primary, or still loads its data: a new connection may lead to the primary.
 * The error of a script holds the word anywhere.
 */
const NOT_PRIMARY = /\b(READONLY|LOADING|MASTERDOWN)\b/;

interface ConnectionOptions {
  enableOfflineQueue?: boolean;
  maxRetriesPerRequest: number | null;
  commandTimeout?: number;
  socketTimeout: number;
  connectTimeout: number;
  autoResendUnfulfilledCommands?: boolean;
  retryStrategy: (attempt: number) => number;
}

function connect(address: RedisAddress, onError: OnConnectionError, options: ConnectionOptions): Redis {
  const redis = new Redis({
    ...serverOf(address),
    ...options,
    Connector: PrimaryConnector,
    // 1: reconnect, and the command fails. With 2 it would wait for as long as the primary is away.
    reconnectOnError: (error: Error) => (NOT_PRIMARY.test(error.message) ? 1 : false),
  });
  redis.on('error', onError);
  return reconnectOnSelectError(redis);
}

/** Reconnects when SELECT fails: ioredis would go on in database 0, where another Docket's data may be. */
function reconnectOnSelectError(redis: Redis): Redis {
  redis.on('error', (error) => {
    if (isSelectError(error)) redis.disconnect(true);
  });
  // BullMQ duplicates connections for its blocking reads, which copies options but no listeners.
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (override) => reconnectOnSelectError(duplicate(override));
  return redis;
}

/** Returns whether Redis refused to select the database. */
function isSelectError(error: Error & { command?: { name: string } }): boolean {
  return error.command?.name === 'select';
}
