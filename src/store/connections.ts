import { Redis } from 'ioredis';

/** Where Redis is: an address (`redis://…`, `rediss://…`) or the path of a unix socket. */
export type RedisAddress = { url: string } | { socketPath: string };

/** What a connection says of itself; called on every change, never with a secret. */
export type OnConnectionError = (error: Error) => void;

/**
 * A connection for request handlers: it fails at once while Redis is away and after `commandMs` when Redis hangs,
 * and works again as soon as Redis does. Never give it to a BullMQ worker: the time limit kills its blocking read.
 */
export function connectForRequests(
  address: RedisAddress,
  commandMs: number,
  onError: OnConnectionError,
): Redis {
  return connect(address, onError, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandMs,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
  });
}

/** A connection for work in the background: commands wait until Redis is back. */
export function connectForWork(address: RedisAddress, onError: OnConnectionError): Redis {
  return connect(address, onError, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(100 * attempt, 1000),
  });
}

interface ConnectionOptions {
  enableOfflineQueue?: boolean;
  maxRetriesPerRequest: number | null;
  commandTimeout?: number;
  autoResendUnfulfilledCommands?: boolean;
  retryStrategy: (attempt: number) => number;
}

function connect(address: RedisAddress, onError: OnConnectionError, options: ConnectionOptions): Redis {
  const redis =
    'url' in address ? new Redis(address.url, options) : new Redis({ path: address.socketPath, ...options });
  redis.on('error', onError);
  return redis;
}
