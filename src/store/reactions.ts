import { z } from 'zod';
import { retention } from '../runtime/timing.ts';
import { LUA_UNLIST_IF } from './due.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';
import { updateHash } from './redis/update-hash.ts';

/** Whose reactions these are: those of the messages in one conversation that concern a run. */
const subject = z.object({ teamId: z.string(), runId: z.string(), channel: z.string() });
export type ReactionSubject = z.infer<typeof subject>;

/**
 * A reaction by its name. `unlessShown`: in a while, and not where the message of that key shows what it would say by
 * then; no key where nothing does yet.
 */
export interface WantedReaction {
  name: string;
  unlessShown?: string;
}

/** Reactions by the `ts` of their messages; `undefined` is none. */
export type WantedReactions = ReadonlyMap<string, WantedReaction | undefined>;

/** A message whose reaction is not as it should be. */
export interface ReactionChange {
  ts: string;
  wanted?: string;
  /** What Slack shows, or may show: a call about it whose outcome is not known counts as one. */
  shown?: string;
  /** It may wait, and need not be there where the message of that key shows the same; see `WantedReaction`. */
  deferral?: { unlessShown: string; waitedMs: number };
  /** The fields as they were read, for `calling`. */
  read: { wanted: string; shown: string };
}

export interface ReactionRecord {
  subject: ReactionSubject;
  /** In order of `ts`. */
  changes: ReactionChange[];
  /** Calls that failed in a row. */
  failures: number;
}

export type ReactionStore = ReturnType<typeof createReactionStore>;

// Fields: `wanted <ts>` and `shown <ts>`, empty or missing for no reaction; the latter with `?` at its end while
// nobody knows, so that it equals nothing that is wanted. `unless:<ts>` and `since:<ts>`: the reaction may wait.
const LUA_DIFFERS = `
local function differs(fields)
  for field, value in pairs(fields) do
    local what, ts = string.match(field, '^(%a+) (.+)$')
    local other = what == 'wanted' and fields['shown ' .. ts] or what == 'shown' and fields['wanted ' .. ts]
    if what and (other or '') ~= value then return true end
  end
  return false
end
local function all(key)
  local fields, flat = {}, redis.call('HGETALL', key)
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end
`;

// Returns in how many milliseconds the first reaction may no longer wait, and whether somebody has to be told: of a run
// that was not listed (1), or of a reaction that is new and may not wait at all (2).
const setWantedScript = luaScript<[number, 0 | 1 | 2]>(`${LUA_NOW}${LUA_DIFFERS}
local run, longest, ttl, subject, version = unpack(ARGV, 1, 5)
local wanted, unless = {}, {}
for i = 6, #ARGV, 3 do
  wanted[ARGV[i]] = ARGV[i + 1]
  if ARGV[i + 2] ~= '-' then unless[ARGV[i]] = ARGV[i + 2] end
end
local old = all(KEYS[1])
if tonumber(old.version or 0) > tonumber(version) then return {0, 0} end
for ts, name in pairs(wanted) do
  local before = old['wanted ' .. ts]
  if name ~= before and (name ~= '' or before or old['shown ' .. ts]) then
    redis.call('HSET', KEYS[1], 'wanted ' .. ts, name)
  end
  if unless[ts] and name ~= (old['shown ' .. ts] or '') then
    redis.call('HSET', KEYS[1], 'unless:' .. ts, unless[ts])
    redis.call('HSETNX', KEYS[1], 'since:' .. ts, now)
  elseif old['unless:' .. ts] or old['since:' .. ts] then
    redis.call('HDEL', KEYS[1], 'unless:' .. ts, 'since:' .. ts)
  end
end
for field in pairs(old) do
  local ts = string.match(field, '^%a+ (.+)$')
  if ts and not wanted[ts] and (old['wanted ' .. ts] or '') == (old['shown ' .. ts] or '') then
    redis.call('HDEL', KEYS[1], 'wanted ' .. ts, 'shown ' .. ts, 'unless:' .. ts, 'since:' .. ts)
  end
end
local new = all(KEYS[1])
new.subject, new.version = nil, nil
if next(new) == nil then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', KEYS[1], 'subject', subject, 'version', version)
  redis.call('PEXPIRE', KEYS[1], ttl)
end
if not differs(new) then
  redis.call('ZREM', KEYS[2], run)
  return {0, 0}
end
local wait, urgent = tonumber(longest), false
for ts, name in pairs(wanted) do
  local shown = new['shown ' .. ts] or ''
  if name ~= shown and new['unless:' .. ts] and shown == '' then
    wait = math.min(wait, math.max(0, longest - math.max(0, now - new['since:' .. ts])))
  elseif name ~= shown then
    wait, urgent = 0, urgent or (old['wanted ' .. ts] or '') ~= name
  end
end
local listed = redis.call('ZADD', KEYS[2], 'NX', now + wait, run) == 1
if urgent then redis.call('ZADD', KEYS[2], now, run) end
return {math.ceil(wait), listed and 1 or urgent and 2 or 0}
`);

// A record that has ended is not brought back.
const setShownScript = luaScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local ts, name, called = unpack(ARGV)
local before = redis.call('HGET', KEYS[1], 'shown ' .. ts) or ''
if called ~= '' and before ~= called .. '?' then name = called .. '?' end
redis.call('HSET', KEYS[1], 'shown ' .. ts, name)
redis.call('HDEL', KEYS[1], 'failures')
if name == (redis.call('HGET', KEYS[1], 'wanted ' .. ts) or '') then
  redis.call('HDEL', KEYS[1], 'unless:' .. ts, 'since:' .. ts)
end
return 1
`);

const loadScript = luaScript<[number, string[]]>(`${LUA_NOW}return {now, redis.call('HGETALL', KEYS[1])}`);

const markDeliveredScript = luaScript(`${LUA_DIFFERS}${LUA_UNLIST_IF}
return unlistIf(not differs(all(KEYS[1])), KEYS[2], ARGV[1])
`);

export function createReactionStore(redis: RedisClient) {
  const reactionKeys = (runId: string) => [keys.reactions(runId), keys.reactionsUndelivered()];
  return {
    /**
     * Replaces what is wanted, unless a later `version` of it was wanted already. What is delivered and wanted no more is
     * forgotten, but stays in Slack. `deferMs`: how long those may wait that may. Returns when the delivery is to begin, where
     * none is to be expected by then: with `replace` one is, for later.
     */
    async setWanted(
      of: ReactionSubject,
      wanted: WantedReactions,
      version: number,
      deferMs: number,
    ): Promise<{ inMs: number; replace: boolean } | undefined> {
      const { teamId, runId, channel } = of;
      const all = [...wanted].flatMap(([ts, one]) => [ts, one?.name ?? '', one?.unlessShown ?? '-']);
      const subjectJson = JSON.stringify({ teamId, runId, channel });
      const [inMs, news] = await setWantedScript(redis, reactionKeys(runId), [
        runId,
        deferMs,
        retention.runMs,
        subjectJson,
        version,
        ...all,
      ]);
      return news === 0 ? undefined : { inMs, replace: news === 2 };
    },
    async load(runId: string): Promise<ReactionRecord | undefined> {
      const [nowMs, flat] = await loadScript(redis, [keys.reactions(runId)]);
      const fields: Record<string, string> = {};
      for (let i = 0; i < flat.length; i += 2) fields[flat[i] ?? ''] = flat[i + 1] ?? '';
      if (fields.subject === undefined) return undefined;
      return {
        subject: subject.parse(JSON.parse(fields.subject)),
        changes: changesIn(fields, nowMs),
        failures: Number(fields.failures ?? 0),
      };
    },
    /**
     * Before a call, while all is as it was read: from here on nobody knows whether Slack shows this reaction. Returns
     * whether it was.
     */
    beginCall: (runId: string, { ts, read }: ReactionChange, name: string): Promise<boolean> =>
      updateHash(
        redis,
        keys.reactions(runId),
        { [`shown ${ts}`]: `${name}?` },
        { [`wanted ${ts}`]: read.wanted, [`shown ${ts}`]: read.shown },
      ),
    /**
     * What the message shows for certain, or counts as showing; ends a row of failures. After a call about `called`:
     * where another was made meanwhile, nobody knows.
     */
    async setShown(runId: string, ts: string, name: string | undefined, called?: string) {
      await setShownScript(redis, [keys.reactions(runId)], [ts, name ?? '', called ?? '']);
    },
    async setFailures(runId: string, failures: number) {
      await updateHash(redis, keys.reactions(runId), { failures });
    },
    /** Takes it from what is due when all is delivered, or there is no record any more. Returns whether it did. */
    markDelivered: async (runId: string): Promise<boolean> =>
      (await markDeliveredScript(redis, reactionKeys(runId), [runId])) === 1,
  };
}

function changesIn(fields: Record<string, string>, nowMs: number): ReactionChange[] {
  const names = Object.keys(fields).map((field) => /^(?:wanted|shown) (.+)$/.exec(field)?.[1] ?? '');
  const all = [...new Set(names)].filter((ts) => ts !== '');
  return all.toSorted().flatMap((ts) => {
    const wanted = fields[`wanted ${ts}`] ?? '';
    const shown = fields[`shown ${ts}`] ?? '';
    if (wanted === shown) return [];
    const unlessShown = fields[`unless:${ts}`];
    const waitedMs = nowMs - Number(fields[`since:${ts}`] ?? 0);
    return [
      {
        ts,
        ...(wanted !== '' && { wanted }),
        ...(shown !== '' && { shown: shown.replace(/\?$/, '') }),
        ...(unlessShown !== undefined && { deferral: { unlessShown, waitedMs } }),
        read: { wanted, shown },
      },
    ];
  });
}
