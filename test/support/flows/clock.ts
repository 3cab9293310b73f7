import { keys } from '../../../src/store/keys.ts';
import { parseMember } from '../../../src/store/run-lua.ts';
import type { TestRedis } from '../redis.ts';

/** The time of a world: its bots in the test's process and its stand-ins share it. */
export interface WorldClock {
  /** Epoch milliseconds. It runs on by itself. */
  now(): number;
  moveTo(ms: number): void;
}

export function createWorldClock(startMs: number | undefined): WorldClock {
  let aheadMs = startMs === undefined ? 0 : startMs - Date.now();
  return {
    now: () => Date.now() + aheadMs,
    moveTo(ms) {
      aheadMs = ms - Date.now();
    },
  };
}

/**
 * Has the sweeper step all runs that are listed, as if they had come to be due. Redis' own clock cannot be moved: what it
 * counts by it, the uses of limits of an hour, is forgotten, which is right after an hour.
 */
export async function wakeRuns({ client }: TestRedis): Promise<void> {
  const limits = await client.keys(keys.windowLimit('*'));
  if (limits.length > 0) await client.del(...limits);
  for (const member of await client.zrange(keys.activeRuns(), 0, '-1')) {
    const { id } = parseMember(member);
    await client.hincrby(keys.run(id), 'wakes', 1);
    await client.zadd(keys.activeRuns(), 'XX', 0, member);
  }
}
