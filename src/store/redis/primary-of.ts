import { type Cluster, Command, type Redis } from 'ioredis';
import { keys } from '../keys.ts';
import type { RedisClient } from './client.ts';

/** Returns whether this is a connection to a cluster. */
const isCluster = (client: RedisClient): client is Cluster => client.isCluster;

/** Returns the part of a cluster that every key of Docket's is in. */
export const slotOfKeys = (): number => new Command('get', [keys.clock()]).getSlot() ?? 0;

/**
 * Returns the connection to the one Redis that has Docket's data: in a cluster that of the primary of its slot;
 * `undefined` when it is not known now.
 */
export function primaryOf(client: RedisClient): Redis | undefined {
  if (!isCluster(client)) return client;
  const [primary] = client.slots[slotOfKeys()] ?? [];
  return client.nodes('master').find(({ options }) => `${options.host}:${options.port}` === primary);
}
