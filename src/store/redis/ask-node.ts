import { Redis } from 'ioredis';
import { within } from '../../runtime/within.ts';

/** How long connecting, and each answer after it, may take. */
export const ANSWER_MS = 1000;

/** One server, as `serverOf` returns it. */
export type NodeServer =
  | { path: string; host?: never }
  | {
      host: string;
      port: number;
      path?: never;
      db?: number;
      username?: string;
      password?: string;
      tls?: { ca?: string };
    };

/**
 * Asks one server over a new connection, which `ask` has until it is done. Rejects with the first error of the
 * connection, such as that of SELECT, after which ioredis would go on.
 */
export async function askNode<T>(server: NodeServer, ask: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({
    ...server,
    lazyConnect: true,
    disableClientInfo: true,
    // `problemOfError` distinguishes a server that loads its data from one that forbids INFO.
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: ANSWER_MS,
    commandTimeout: 2 * ANSWER_MS,
  });
  const errors: Error[] = [];
  redis.on('error', (error: Error) => errors.push(error));
  try {
    await within(2 * ANSWER_MS, redis.connect());
    if (errors[0]) throw errors[0];
    return await ask(redis);
  } catch (error) {
    throw errors[0] ?? error;
  } finally {
    redis.disconnect();
  }
}
