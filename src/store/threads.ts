import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { durableScript, LUA_NOW, luaScript } from './redis/lua.ts';
import { appendEvent, LUA_DEDUPE, LUA_TTL, LUA_WAKE, memberOf } from './run-scripts.ts';
import { type RunBase, toIndexEntry } from './runs.ts';

/** The place of a thread: the conversation, and its root message. */
export interface ThreadPlace {
  teamId: string;
  channel: string;
  rootTs: string;
}

/** The claim of a run on a place: one thread follows one job. */
export const threadClaim = ({ teamId, channel, rootTs }: ThreadPlace) =>
  ['agent-thread', teamId, channel, rootTs].join(' ');

/** Followed threads, whose events go to the inbox of their run, and threads that cannot be followed. */
export type ThreadStore = ReturnType<typeof createThreadStore>;

/** Events kept of a thread that no run follows yet. */
const MAX_EARLY = 100;

/** Maximum closed threads kept for one conversation, for ever: people may reply to a message as long as it exists. */
const MAX_CLOSED = 10_000;

// If the caller does not know whether the thread is under a message of ours, our posted messages and those about to be
// posted decide.
const findFollowerScript = durableScript<
  ['followed', string] | ['notFollowed' | 'repeated' | 'early']
>(`${LUA_NOW}${LUA_DEDUPE}
local claim, seen, early, posting, posted = unpack(KEYS)
local event, underOurs, earlyMs, most, rootTs = unpack(ARGV)
local id = redis.call('GET', claim)
if id then return {'followed', id} end
local mayBeOurs = underOurs == 'true'
if underOurs == 'undefined' then
  mayBeOurs = redis.call('ZSCORE', posted, rootTs) or redis.call('ZCOUNT', posting, now - earlyMs, '+inf') > 0
end
if not mayBeOurs then return {'notFollowed'} end
if not isFirst(seen) then return {'repeated'} end
redis.call('RPUSH', early, event)
redis.call('LTRIM', early, -most, -1)
redis.call('PEXPIRE', early, earlyMs)
return {'early'}
`);

const followScript = durableScript<string | null>(`${LUA_WAKE}${LUA_TTL}
local run, inbox, claim, early, active, index = unpack(KEYS)
local id, member, runs, listed = unpack(ARGV)
if redis.call('EXISTS', run) == 0 then return false end
local holder = redis.call('GET', claim)
if holder and holder ~= id and redis.call('EXISTS', runs .. holder) == 1 then return holder end
redis.call('SET', claim, id)
livesAs(run, claim)
-- If the run has held the thread since it was accepted, early events are older than the request.
local entries = holder == id and {} or redis.call('LRANGE', early, 0, -1)
for i = #entries, 1, -1 do redis.call('LPUSH', inbox, entries[i]) end
redis.call('DEL', early)
if #entries > 0 then
  livesAs(run, inbox)
  wake(run, active, member)
end
redis.call('HSET', index, id, listed)
return false
`);

// Our messages at the top level of a conversation: a reply may arrive before the run knows its thread.
const rememberScript = luaScript(`${LUA_NOW}
local into, from = unpack(KEYS)
local member, ttl, removed = unpack(ARGV)
if from then redis.call('ZREM', from, removed) end
redis.call('ZREMRANGEBYSCORE', into, '-inf', now - ttl)
redis.call('ZADD', into, now, member)
redis.call('PEXPIRE', into, ttl)
`);

export function createThreadStore(redis: RedisClient) {
  return {
    /**
     * Appends an event to the inbox of the run that follows the thread, and wakes the run. `underOurs`: the thread is
     * under one of our messages, whose run may not know its thread yet; the event is kept for ten minutes (`early`). If
     * it is undefined, our known posts decide.
     */
    async appendToThread(
      place: ThreadPlace,
      entry: { event: object; dedupeKey: string },
      underOurs: boolean | undefined,
    ) {
      const claim = threadClaim(place);
      const { teamId, channel, rootTs } = place;
      const touched = [
        ...[keys.claim(claim), keys.seenEvent(claim, entry.dedupeKey), keys.early(claim)],
        ...[keys.posting(teamId, channel), keys.posted(teamId, channel)],
      ];
      const args = [JSON.stringify(entry.event), String(underOurs), retention.earlyMs, MAX_EARLY, rootTs];
      const answer = await findFollowerScript(redis, touched, args);
      if (answer[0] !== 'followed') return { kind: answer[0] };
      const [, runId] = answer;
      const kept = await appendEvent(redis, { job: 'agent-thread', id: runId }, entry, { seen: claim });
      if (kept === 'kept') return { kind: kept, runId };
      return { kind: kept === 'repeated' ? kept : ('notFollowed' as const) };
    },

    /**
     * Makes the run the follower of this thread, without expiry while it is permanent, and adds it to the followed
     * threads. Early events go to the front of its inbox, so entries loaded before can no longer be removed by count;
     * they are dropped if the run has had the thread since it was accepted. Returns another run that already follows
     * the thread, if any. Safe to repeat.
     */
    async follow(run: RunBase, place: ThreadPlace): Promise<string | undefined> {
      const claim = threadClaim(place);
      const touched = [
        keys.run(run.id),
        keys.inbox(run.id),
        keys.claim(claim),
        keys.early(claim),
        keys.activeRuns(),
        keys.index(run.job, run.teamId),
      ];
      const args = [run.id, memberOf(run), keys.run(''), toIndexEntry(run)];
      return (await followScript(redis, touched, args)) ?? undefined;
    },

    /** Removes it from the followed threads. `RunStore.save` releases its claim and its quota. */
    async unfollow(teamId: string, runId: string) {
      await redis.hdel(keys.index('agent-thread', teamId), runId);
    },

    /** Returns ids of the runs of followed threads, in no order. */
    followed: (teamId: string) => redis.hkeys(keys.index('agent-thread', teamId)),

    /** Nothing in a closed thread instructs the agent, and no job can be followed there. Safe to repeat. */
    async close({ teamId, channel, rootTs }: ThreadPlace) {
      const key = keys.closedThreads(teamId, channel);
      await redis
        .multi()
        .zadd(key, Number(rootTs), rootTs)
        .zremrangebyrank(key, 0, -1 - MAX_CLOSED)
        .exec();
    },
    isClosed: async ({ teamId, channel, rootTs }: ThreadPlace): Promise<boolean> =>
      (await redis.zscore(keys.closedThreads(teamId, channel), rootTs)) !== null,

    /** A message of ours is about to be posted. Until then, each new thread of the conversation may be under it. */
    async markPosting(teamId: string, channel: string, messageKey: string) {
      await rememberScript(redis, [keys.posting(teamId, channel)], [messageKey, retention.earlyMs]);
    },
    /** The message of ours is posted. */
    async markPosted(teamId: string, channel: string, messageKey: string, ts: string) {
      const touched = [keys.posted(teamId, channel), keys.posting(teamId, channel)];
      await rememberScript(redis, touched, [ts, retention.runMs, messageKey]);
    },
    /** Whether one of our messages was posted there within a month. */
    async hasPostedIn(teamId: string, channel: string): Promise<boolean> {
      return (await redis.exists(keys.posted(teamId, channel))) === 1;
    },
  };
}
