import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { askTime } from './redis/clock.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';
import { parseMember } from './run-scripts.ts';

/** The due lists. Each entry has its due time by Redis' clock, so the clocks of the machines need not agree. */
export const dueLists = {
  runs: keys.activeRuns,
  messages: keys.undelivered,
} as const;
export type DueList = keyof typeof dueLists;

/** An entry of a list: a run, or the key of a message. */
export interface DueEntry {
  list: DueList;
  member: string;
}

/** The key of its record, which counts its wakes. */
const recordOf = ({ list, member }: DueEntry) =>
  list === 'messages' ? keys.message(member) : keys.run(parseMember(member).id);

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
    /** Returns its number of wakes so far, for `postpone`, and the reference of its request. */
    async begin(entry: DueEntry): Promise<{ wakes: number; ref: string | undefined }> {
      const [wakes, ref] = await redis.hmget(recordOf(entry), 'wakes', 'ref');
      return { wakes: Number(wakes ?? 0), ref: ref ?? undefined };
    },
    /**
     * Makes the entry due in `inMs`; an unlisted one stays unlisted. Returns false if it was woken since it had
     * `wakes`: then it is due now.
     */
    async postpone(entry: DueEntry, inMs: number, wakes: number): Promise<boolean> {
      const touched = [dueLists[entry.list](), recordOf(entry)];
      return (await postponeScript(redis, touched, [entry.member, Math.round(inMs), wakes])) === 0;
    },
    /**
     * Returns entries overdue by `lateMs` or longer, the longest first, and those due later than in `longestMs`, which
     * were planned before Redis' clock was set back.
     */
    async overdue(list: DueList, lateMs: number, longestMs: number): Promise<string[]> {
      const nowMs = await askTime(redis);
      const key = dueLists[list]();
      const found = await Promise.all([
        redis.zrangebyscore(key, '-inf', nowMs - lateMs, 'LIMIT', 0, MAX_OVERDUE),
        redis.zrangebyscore(key, `(${nowMs + longestMs}`, '+inf', 'LIMIT', 0, MAX_OVERDUE),
      ]);
      return found.flat();
    },
    /** Returns how many entries of all lists are overdue by `lateMs` or longer. */
    async countOverdue(lateMs: number): Promise<number> {
      const untilMs = (await askTime(redis)) - lateMs;
      const lists = Object.values(dueLists);
      const counts = await Promise.all(lists.map((key) => redis.zcount(key(), '-inf', untilMs)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    /** Returns how long the oldest entry of each job has been due, in milliseconds. Messages have no job. */
    async dueFor(list: DueList): Promise<Map<string, number>> {
      const nowMs = await askTime(redis);
      // What was missing from the list is due since 0.
      const limit = ['WITHSCORES', 'LIMIT', 0, MAX_OVERDUE] as const;
      const entries = await redis.zrangebyscore(dueLists[list](), '(0', nowMs, ...limit);
      const found = new Map<string, number>();
      for (let at = 0; at < entries.length; at += 2) {
        const job = list === 'runs' ? parseMember(entries[at] ?? '').job : '';
        if (!found.has(job)) found.set(job, nowMs - Number(entries[at + 1]));
      }
      return found;
    },
    /** Returns whether this process should sweep; one process per `everyMs` does. */
    async claimSweep(everyMs: number): Promise<boolean> {
      return (await redis.set(keys.sweep(), '1', 'PX', Math.max(1, Math.round(everyMs)), 'NX')) === 'OK';
    },
    /** Counts one more unexpected error of a BullMQ job. Returns the total. */
    async addError(bullJobId: string): Promise<number> {
      const key = keys.jobErrors(bullJobId);
      const answers = await redis.multi().incr(key).pexpire(key, retention.jobErrorsMs).exec();
      return Number(answers?.[0]?.[1]);
    },
    async clearErrors(bullJobId: string) {
      await redis.del(keys.jobErrors(bullJobId));
    },
  };
}
