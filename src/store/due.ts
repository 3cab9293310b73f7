import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { askTime } from './redis/clock.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';
import { memberOf, parseMember, type RunRef, recordKey } from './run-scripts.ts';

/** The due list. Each entry has its due time by Redis' clock, so the clocks of the machines need not agree. */
export type DueStore = ReturnType<typeof createDueStore>;

/** Maximum entries that one sweep finds; the next one finds the rest. */
const MAX_OVERDUE = 1000;

const postponeScript = luaScript<0 | 1>(`${LUA_NOW}
local member, wait, wakes = unpack(ARGV)
local woken = (redis.call('HGET', KEYS[2], 'wakes') or '0') ~= wakes
redis.call('ZADD', KEYS[1], 'XX', woken and now or now + wait, member)
return woken and 1 or 0
`);

export function createDueStore(redis: RedisClient) {
  return {
    /** Returns the number of a run's wakes so far, for `postpone`, the reference of its request, and its workspace. */
    async begin(run: RunRef) {
      const [wakes, ref, team] = await redis.hmget(recordKey(run), 'wakes', 'ref', 'team');
      return { wakes: Number(wakes ?? 0), ref: ref ?? undefined, teamId: team ?? undefined };
    },
    /**
     * Makes the run due in `inMs`; an unlisted one stays unlisted. Returns false if it was woken since it had `wakes`:
     * then it is due now.
     */
    async postpone(run: RunRef, inMs: number, wakes: number): Promise<boolean> {
      const touched = [keys.activeRuns(), recordKey(run)];
      return (await postponeScript(redis, touched, [memberOf(run), Math.round(inMs), wakes])) === 0;
    },
    /**
     * Returns runs overdue by `lateMs` or longer, the longest first. Then come those due later than in `longestMs`: they
     * were planned before Redis' clock was set back.
     */
    async overdue(lateMs: number, longestMs: number): Promise<RunRef[]> {
      const nowMs = await askTime(redis);
      const found = await Promise.all([
        redis.zrangebyscore(keys.activeRuns(), '-inf', nowMs - lateMs, 'LIMIT', 0, MAX_OVERDUE),
        redis.zrangebyscore(keys.activeRuns(), `(${nowMs + longestMs}`, '+inf', 'LIMIT', 0, MAX_OVERDUE),
      ]);
      return found.flat().map(parseMember);
    },
    /** Returns how many runs are overdue by `lateMs` or longer. */
    countOverdue: async (lateMs: number): Promise<number> =>
      redis.zcount(keys.activeRuns(), '-inf', (await askTime(redis)) - lateMs),
    /** Returns how long the oldest due run of each job has been due, in milliseconds. */
    async dueFor(): Promise<Map<string, number>> {
      const nowMs = await askTime(redis);
      const limit = ['WITHSCORES', 'LIMIT', 0, MAX_OVERDUE] as const;
      const entries = await redis.zrangebyscore(keys.activeRuns(), '-inf', nowMs, ...limit);
      const found = new Map<string, number>();
      for (let at = 0; at < entries.length; at += 2) {
        const { job } = parseMember(entries[at] ?? '');
        if (!found.has(job)) found.set(job, nowMs - Number(entries[at + 1]));
      }
      return found;
    },
  };
}
