import type { Redis } from 'ioredis';
import { keys } from '../../src/store/keys.ts';
import { parseMember, recordKey } from '../../src/store/run-scripts.ts';

/** Has the sweeper step all that is listed, as if they had come to be due: after a clock was moved. */
export async function wakeRuns(client: Redis): Promise<void> {
  for (const member of await client.zrange(keys.activeRuns(), 0, '-1')) {
    await client.hincrby(recordKey(parseMember(member)), 'wakes', 1);
    await client.zadd(keys.activeRuns(), 'XX', 0, member);
  }
}

/** Redis' own clock cannot be moved: forgets the slots that it counts, which is right after an hour. */
export async function forgetHours(client: Redis): Promise<void> {
  const limits = await client.keys(keys.rateLimit('*'));
  if (limits.length > 0) await client.del(...limits);
}
