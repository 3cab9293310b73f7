import { Cluster, Command, type Redis, ReplyError } from 'ioredis';
import { keys } from '../keys.ts';

/** A connection to one Redis, possibly through Sentinel, or to a cluster. */
export type RedisClient = Redis | Cluster;

/** Returns the connection to the Redis with Docket's data; in a cluster, the primary of the slot of all keys. */
export function primaryOf(client: RedisClient): Redis | undefined {
  if (!(client instanceof Cluster)) return client;
  const slot = new Command('get', [keys.clock()]).getSlot() ?? 0;
  const [primary] = client.slots[slot] ?? [];
  return client.nodes('master').find(({ options }) => `${options.host}:${options.port}` === primary);
}

/** Returns the fields of an INFO reply by name. A value may contain colons, as an IPv6 address does. */
export const infoFields = (info: string): Record<string, string> =>
  Object.fromEntries(
    info.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return at < 1 || line.startsWith('#') ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );

/**
 * Returns the word with which Redis refused a command, such as `OOM`, since it cannot take it as it is now; undefined for
 * all other errors. In a script's error, the word may be anywhere.
 */
export const refusalOf = (error: unknown): string | undefined =>
  error instanceof ReplyError
    ? /\b(?:OOM|READONLY|NOPERM|MISCONF|NOREPLICAS|UNBLOCKED)\b/.exec((error as Error).message)?.[0]
    : undefined;
