import { Redis } from 'ioredis';
import type { Timing } from '../../runtime/timing.ts';
import { type RedisAddress, serverOf } from './address.ts';
import { PrimaryConnector } from './primary-connector.ts';

/** What a connection says of itself; called on every change, never with a secret. */
export type OnConnectionError = (error: Error) => void;

/**
 * A connection for request handlers: it fails at once while Redis is away and after `intakeMs` when Redis hangs,
 * and works again as soon as Redis does. Never give it to a BullMQ worker: the time limit kills its blocking read.
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

/** A connection for work in the background: commands wait until Redis is back. */
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
 * ioredis counts only while a command waits for its answer, so that an idle connection lives on; a connection whose
 * other end vanished without a word is given up.
 */
const socketLimits = (ms: number) => ({ socketTimeout: ms, connectTimeout: ms });

/**
 * What a server answers that was the primary and no longer is, or still loads its data: a new connection may lead to
 * the one that is. In the error of a script it stands anywhere.
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

/** When SELECT fails, ioredis goes on in database 0, where another Docket's data may be. This one never gets ready then. */
function reconnectOnSelectError(redis: Redis): Redis {
  redis.on('error', (error) => {
    if (isSelectError(error)) redis.disconnect(true);
  });
  // BullMQ makes its blocking connections this way, with the options alone.
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (override) => reconnectOnSelectError(duplicate(override));
  return redis;
}

/** Whether Redis refused to go to the database that was asked for. */
function isSelectError(error: Error & { command?: { name: string } }): boolean {
  return error.command?.name === 'select';
}
