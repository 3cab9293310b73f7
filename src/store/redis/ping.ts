import type { RedisClient } from './client.ts';
import { askTime } from './clock.ts';
import { primaryOf } from './primary-of.ts';

/** Has the one Redis that has Docket's data answer. Rejects when it does not. */
export async function ping(client: RedisClient): Promise<string> {
  const primary = primaryOf(client);
  if (primary !== undefined) return primary.ping();
  // A command that a cluster leads by its key also finds the primary that is new.
  await askTime(client);
  return 'PONG';
}
