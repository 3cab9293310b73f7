import type { z } from 'zod';
import { retention } from '../runtime/timing.ts';
import { createClosedThreads, type ThreadPlace } from './closed-threads.ts';
import { loadFollowedIndex, toIndexEntry } from './followed-index.ts';
import { keys } from './keys.ts';
import { LUA_MAY_BE_OURS } from './own-posts.ts';
import { LUA_RATE_LIMIT, limitKeys, type RateLimit, type SlotRequest, slotArgs } from './rate-limit.ts';
import type { RedisClient } from './redis/client.ts';
import { LUA_NOW, lastingScript, luaScript } from './redis/lua.ts';
import { LUA_SAVE, LUA_TTL, LUA_WAKE, memberOf, saveArgs, saveKeys } from './run-lua.ts';
import { type RunBase, readRun } from './runs.ts';

/** The claim of a run on a place: one thread follows one job. */
export const threadClaim = ({ teamId, channel, rootTs }: ThreadPlace) =>
  ['agent-thread', teamId, channel, rootTs].join(' ');

/** An event, stored as JSON. Of events with the same `dedupeKey`, one is kept within seven days. */
export interface InboxEntry {
  event: object;
  dedupeKey: string;
}

type AppendResult =
  | { kind: 'kept'; runId: string }
  | { kind: 'repeated' }
  /** No run follows the thread yet. */
  | { kind: 'early' }
  | { kind: 'notFollowed' };

/** A run, its inbox (oldest first, at most 100 entries), and its number of wakes. */
export interface WithInbox<R> {
  run: R;
  inbox: unknown[];
  wakes: number;
}

type ThreadSave<R> =
  | ({ kind: 'saved' } & WithInbox<R>)
  | { kind: 'stale' }
  /** The limit has no slot before `inMs`; nothing was saved. `onHold`: because the other side refused. */
  | { kind: 'limited'; inMs: number; onHold: boolean };

/** A slot and its limit. */
export type LimitedSlot = SlotRequest & { limit: RateLimit };

/**
 * Followed threads and their events, each in the inbox of the run that follows the thread; and threads that cannot be
 * followed.
 */
export type ThreadStore = ReturnType<typeof createThreadStore>;

/** Entries that one step takes at most. */
const INBOX_BATCH = 100;

/** Threads of early events that one sweep takes. */
const EARLY_BATCH = 1000;

/** `isFirst(seen, dedupeKey, forMs)`: whether this key is new within `forMs`. Needs LUA_NOW. */
const LUA_DEDUPE = `
local function isFirst(seen, dedupeKey, forMs)
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', now - forMs)
  if redis.call('ZADD', seen, 'NX', now, dedupeKey) == 0 then return false end
  redis.call('PEXPIRE', seen, forMs)
  return true
end
`;

// The run is found here, so its keys are built here, from the prefixes that such keys share.
const appendToThreadScript = lastingScript<
  [AppendResult['kind'], string?]
>(`${LUA_NOW}${LUA_WAKE}${LUA_TTL}${LUA_DEDUPE}${LUA_MAY_BE_OURS}
local claim, seen, early, active, followed, index, unseen, posting, posted = unpack(KEYS)
local event, dedupeKey, underOurs, member, run, inbox, seenMs, earlyMs, most, place, rootTs = unpack(ARGV)
local id = redis.call('GET', claim)
if not id and underOurs == 'no' then return {'notFollowed'} end
if not id and underOurs == 'unknown' and not mayBeOurs(posting, posted, rootTs) then
  return {'notFollowed'}
end
if id and redis.call('EXISTS', run .. id) == 0 then
  redis.call('DEL', claim)
  redis.call('ZREM', followed, id)
  redis.call('HDEL', index, id)
  return {'notFollowed'}
end
if not isFirst(seen, dedupeKey, seenMs) then return {'repeated'} end
if not id then
  redis.call('RPUSH', early, event)
  redis.call('LTRIM', early, -most, -1)
  redis.call('PEXPIRE', early, earlyMs)
  redis.call('SADD', unseen, place)
  redis.call('PEXPIRE', unseen, earlyMs)
  return {'early'}
end
redis.call('RPUSH', inbox .. id, event)
livesAs(run .. id, inbox .. id)
wake(run .. id, active, member .. id)
return {'kept', id}
`);

const appendToInboxScript = lastingScript<
  'kept' | 'repeated' | 'late' | 'gone'
>(`${LUA_NOW}${LUA_WAKE}${LUA_TTL}${LUA_DEDUPE}
local run, seen, inbox, active = unpack(KEYS)
local event, dedupeKey, member, deadline, seenMs = unpack(ARGV)
if redis.call('EXISTS', run) == 0 then return 'gone' end
-- A script that is executed again must not call late what it has kept.
local seenAt = tonumber(redis.call('ZSCORE', seen, dedupeKey) or '-inf')
if now > tonumber(deadline) and seenAt <= now - seenMs then return 'late' end
if not isFirst(seen, dedupeKey, seenMs) then return 'repeated' end
redis.call('RPUSH', inbox, event)
livesAs(run, inbox)
wake(run, active, member)
return 'kept'
`);

const loadScript = luaScript<[[string | null, string | null], string[]]>(`
return {redis.call('HMGET', KEYS[1], 'json', 'wakes'), redis.call('LRANGE', KEYS[2], 0, ARGV[1] - 1)}
`);

/** `saveThread()` and `saved()`, which use the first keys and arguments of the script: `threadKeys`, `threadArgs`. */
const LUA_SAVE_THREAD = `${LUA_SAVE}
local function saveThread()
  local index, id, taken, listed = KEYS[4], ARGV[4], ARGV[7], ARGV[8]
  save(KEYS, ARGV)
  redis.call('LTRIM', KEYS[2], taken, -1)
  if redis.call('HEXISTS', index, id) == 1 then redis.call('HSET', index, id, listed) end
end
local function saved() return {'saved', wakesOf(KEYS), redis.call('LRANGE', KEYS[2], 0, ARGV[9] - 1)} end
`;

const threadKeys = (run: RunBase): string[] => [...saveKeys(run), keys.followedIndex(run.teamId)];
const threadArgs = (run: RunBase, next: RunBase, taken: number): (string | number)[] => [
  ...saveArgs(run, next),
  taken,
  toIndexEntry(next),
  INBOX_BATCH,
];

type Saved = [kind: 'saved', wakes: number, entries: string[]];

const saveScript = lastingScript<
  Saved | ['stale'] | ['limited', number, number]
>(`${LUA_SAVE_THREAD}${LUA_RATE_LIMIT}
if not isLatest(KEYS, ARGV) then return {'stale'} end
if #ARGV > 9 then
  local wait, held = rateLimit({unpack(KEYS, 5)}, {unpack(ARGV, 10)}).take()
  if wait > 0 then return {'limited', wait, held} end
end
saveThread()
return saved()
`);

const followScript = lastingScript<string | null>(`${LUA_NOW}${LUA_WAKE}${LUA_TTL}
local run, inbox, claim, early, active, followed, index = unpack(KEYS)
local id, member, runs, listed = unpack(ARGV)
if redis.call('EXISTS', run) == 0 then return false end
local holder = redis.call('GET', claim)
if holder and holder ~= id and redis.call('EXISTS', runs .. holder) == 1 then return holder end
redis.call('SET', claim, id)
livesAs(run, claim)
-- Who had the thread before has every event since; earlier ones are from before anybody followed.
local entries = holder == id and {} or redis.call('LRANGE', early, 0, -1)
for i = #entries, 1, -1 do redis.call('LPUSH', inbox, entries[i]) end
redis.call('DEL', early)
if #entries > 0 then
  livesAs(run, inbox)
  wake(run, active, member)
end
redis.call('ZADD', followed, 'NX', now, id)
redis.call('HSET', index, id, listed)
return false
`);

const savedThread = <R>(run: R, [kind, wakes, entries]: Saved): { kind: 'saved' } & WithInbox<R> => ({
  kind,
  run,
  inbox: entries.map((entry) => JSON.parse(entry)),
  wakes,
});

export function createThreadStore(redis: RedisClient) {
  return {
    /**
     * Appends an event to the inbox of the run that follows the thread, and wakes the run. `underOurs`: the thread is
     * under one of our messages, whose run may not know its thread yet; the event is kept until a worker runs
     * (`startEarlyExpiry`). If it is undefined, our known posts decide.
     */
    async appendToThread(
      job: string,
      place: ThreadPlace,
      { event, dedupeKey }: InboxEntry,
      underOurs: boolean | undefined,
    ): Promise<AppendResult> {
      const claim = threadClaim(place);
      const touched = [
        keys.claim(claim),
        keys.seenEvents(claim),
        keys.early(claim),
        keys.activeRuns(),
        keys.followed(place.teamId),
        keys.followedIndex(place.teamId),
        keys.earlyUnseen(),
        keys.posting(place.teamId, place.channel),
        keys.posted(place.teamId, place.channel),
      ];
      const [kind, runId = ''] = await appendToThreadScript(redis, touched, [
        JSON.stringify(event),
        dedupeKey,
        underOurs === undefined ? 'unknown' : underOurs ? 'yes' : 'no',
        memberOf({ job, id: '' }),
        keys.run(''),
        keys.inbox(''),
        retention.dedupeMs,
        retention.runMs,
        INBOX_BATCH,
        claim,
        place.rootTs,
      ]);
      return kind === 'kept' ? { kind, runId } : { kind };
    },

    /**
     * The same for a known run. `deadlineMs` is a time of Redis' clock, as in RunStore. `gone`: there is no such run
     * any more.
     */
    appendToInbox(job: string, runId: string, { event, dedupeKey }: InboxEntry, deadlineMs: number) {
      const touched = [keys.run(runId), keys.seenEvents(runId), keys.inbox(runId), keys.activeRuns()];
      const args = [
        JSON.stringify(event),
        dedupeKey,
        memberOf({ job, id: runId }),
        deadlineMs,
        retention.dedupeMs,
      ];
      return appendToInboxScript(redis, touched, args);
    },

    /** Throws a `ZodError` for a damaged record. */
    async loadWithInbox<R extends RunBase>(
      runId: string,
      schema: z.ZodType<R>,
    ): Promise<WithInbox<R> | undefined> {
      const touched = [keys.run(runId), keys.inbox(runId)];
      const [[json, wakes], entries] = await loadScript(redis, touched, [INBOX_BATCH]);
      const run = readRun(json, schema);
      if (run === undefined) return undefined;
      return { run, inbox: entries.map((entry) => JSON.parse(entry)), wakes: Number(wakes ?? 0) };
    },

    /**
     * Saves the next state of a run and removes the first `taken` inbox entries in one write; neither if `run` was not
     * the latest. With `slot` it also takes a slot of that limit, or saves nothing. Returns what `loadWithInbox` would
     * return now.
     */
    async save<R extends RunBase>(run: R, taken: number, slot?: LimitedSlot): Promise<ThreadSave<R>> {
      const next = { ...run, rev: run.rev + 1 };
      const touched = [...threadKeys(run), ...(slot ? limitKeys(slot.limit) : [])];
      const args = [...threadArgs(run, next, taken), ...(slot ? slotArgs(slot.limit, slot) : [])];
      const answer = await saveScript(redis, touched, args);
      if (answer[0] === 'saved') return savedThread(next, answer);
      return answer[0] === 'limited'
        ? { kind: 'limited', inMs: answer[1], onHold: answer[2] === 1 }
        : { kind: 'stale' };
    },

    /**
     * Makes the run the follower of this thread, without expiry while it is lasting, and adds it to the followed
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
        keys.followed(run.teamId),
        keys.followedIndex(run.teamId),
      ];
      const holder = await followScript(redis, touched, [
        run.id,
        memberOf(run),
        keys.run(''),
        toIndexEntry(run),
      ]);
      return holder ?? undefined;
    },

    /** A worker runs: early events are kept for ten more minutes, in which a run can claim its thread. */
    async startEarlyExpiry() {
      const claims = await redis.spop(keys.earlyUnseen(), EARLY_BATCH);
      await Promise.all(claims.map((claim) => redis.pexpire(keys.early(claim), retention.earlyMs)));
    },

    /** Removes it from the followed threads and from its quota. `RunStore.save` releases its claim. */
    async unfollow(teamId: string, runId: string, quota: string) {
      await redis
        .multi()
        .zrem(keys.followed(teamId), runId)
        .hdel(keys.followedIndex(teamId), runId)
        .zrem(keys.quota(quota), runId)
        .exec();
    },

    /** Returns ids of the runs of followed threads, latest first. */
    followed: (teamId: string) => redis.zrevrange(keys.followed(teamId), 0, -1),
    /** Returns their index entries without reading their records, see `followed-index.ts`; latest first. */
    followedIndex: (teamId: string) => loadFollowedIndex(redis, teamId),

    ...createClosedThreads(redis),
  };
}
