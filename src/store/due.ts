import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';

/** The due lists. Each entry has its due time by Redis' clock, so the clocks of the machines need not agree. */
export const dueLists = {
  runs: keys.activeRuns,
  messages: keys.undelivered,
} as const;
export type DueList = keyof typeof dueLists;

/** An entry of a list; with `runId` it is a run. The record counts its wakes. */
export interface DueEntry {
  list: DueList;
  member: string;
  runId?: string;
}

const recordOf = ({ list, member, runId }: DueEntry) =>
  keys[list === 'messages' ? 'message' : 'run'](runId ?? member);

export type DueStore = ReturnType<typeof createDueStore>;

/** Maximum entries that one sweep finds; the next one finds the rest. */
const MAX_OVERDUE = 1000;

const postponeScript = luaScript<0 | 1>(`${LUA_NOW}
local member, wait, wakes = unpack(ARGV)
local woken = (redis.call('HGET', KEYS[2], 'wakes') or '0') ~= wakes
redis.call('ZADD', KEYS[1], 'XX', woken and now or now + wait, member)
return woken and 1 or 0
`);

const overdueScript = luaScript<string[]>(`${LUA_NOW}
local late, longest, most = unpack(ARGV)
local function time(ms) return string.format('%.0f', ms) end
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time(now - late), 'LIMIT', 0, most)
local ahead = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. time(now + longest), '+inf', 'LIMIT', 0, most)
for _, member in ipairs(ahead) do found[#found + 1] = member end
return found
`);

const countOverdueScript = luaScript<number>(`${LUA_NOW}
local late = string.format('%.0f', now - ARGV[1])
local count = 0
for _, list in ipairs(KEYS) do count = count + redis.call('ZCOUNT', list, '-inf', late) end
return count
`);

// What was missing from the list is due since 0.
const oldestScript = luaScript<string[]>(`${LUA_NOW}
local entries = redis.call('ZRANGEBYSCORE', KEYS[1], '(0', string.format('%.0f', now), 'WITHSCORES', 'LIMIT', 0, ARGV[1])
local found, seen = {}, {}
for i = 1, #entries, 2 do
  local job = string.match(entries[i], '^[^ ]*')
  if not seen[job] then
    seen[job] = true
    found[#found + 1] = job
    found[#found + 1] = string.format('%.0f', now - entries[i + 1])
  end
end
return found
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
    overdue: (list: DueList, lateMs: number, longestMs: number): Promise<string[]> =>
      overdueScript(redis, [dueLists[list]()], [lateMs, longestMs, MAX_OVERDUE]),
    /** Returns how many entries of all lists are overdue by `lateMs` or longer. */
    countOverdue: (lateMs: number): Promise<number> =>
      countOverdueScript(
        redis,
        Object.values(dueLists).map((key) => key()),
        [lateMs],
      ),
    /** Returns how long the oldest run of each job has been due, in milliseconds; jobs without due runs are left out. */
    async runsDueFor(): Promise<Map<string, number>> {
      const found = await oldestScript(redis, [dueLists.runs()], [MAX_OVERDUE]);
      const jobs = found.filter((_, index) => index % 2 === 0);
      return new Map(jobs.map((job, index) => [job, Number(found[2 * index + 1])]));
    },
    /** Returns how long the oldest message has been due, in milliseconds; 0 if none is. */
    async messagesDueForMs(): Promise<number> {
      const [, oldestMs = 0] = await oldestScript(redis, [dueLists.messages()], [1]);
      return Number(oldestMs);
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
