import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { durableScript, LUA_NOW, luaScript } from './redis/lua.ts';

/** Names a run, or a message by its key: its `job` is `outbox`. */
export interface RunRef {
  job: string;
  id: string;
}

/** The key of its record. */
export const recordKey = ({ job, id }: RunRef) => (job === 'outbox' ? keys.message(id) : keys.run(id));

/** Its member in the due list. */
export const memberOf = ({ job, id }: RunRef) => `${job} ${id}`;

export function parseMember(member: string): RunRef {
  const at = member.indexOf(' ');
  return { job: member.slice(0, at), id: member.slice(at + 1) };
}

/**
 * `list(run, active, member)` makes the run due now; `unlist` removes it. `wake` also lets a running step see that the run
 * was woken. Each workspace's active runs of each job are in a set of their own (`keys.activeRunsOf`).
 */
export const LUA_WAKE = `${LUA_NOW}
local function indexOf(run, active, member)
  local job, id = string.match(member, '^([^ ]*) (.*)$')
  if job == 'outbox' then return active .. ':outbox', id end
  return active .. ':' .. job .. ':' .. (redis.call('HGET', run, 'team') or ''), id
end
local function list(run, active, member)
  local index, id = indexOf(run, active, member)
  redis.call('ZADD', active, now, member)
  if redis.call('ZADD', index, 'NX', now, id) == 1 then redis.call('SADD', active .. ':lists', index) end
end
local function unlist(run, active, member)
  local index, id = indexOf(run, active, member)
  redis.call('ZREM', active, member)
  -- A record that has expired does not name its workspace.
  local lists = redis.call('EXISTS', run) == 1 and {index} or redis.call('SMEMBERS', active .. ':lists')
  for _, found in ipairs(lists) do redis.call('ZREM', found, id) end
end
local function wake(run, active, member)
  redis.call('HINCRBY', run, 'wakes', 1)
  list(run, active, member)
end
`;

/** `livesFor(ttl, ...)` sets a time to live on keys that have none; `livesAs(run, key)` copies that of the record. */
export const LUA_TTL = `
local function livesFor(ttl, ...)
  for _, key in ipairs({...}) do
    if redis.call('PTTL', key) == -1 then redis.call('PEXPIRE', key, ttl) end
  end
end
local function livesAs(run, key)
  local left = redis.call('PTTL', run)
  if left > 0 then redis.call('PEXPIRE', key, left) else redis.call('PERSIST', key) end
end
`;

/** `isFirst(seen)`: whether the event with this key comes for the first time within seven days. */
export const LUA_DEDUPE = `
local function isFirst(seen) return redis.call('SET', seen, 1, 'NX', 'PX', ${retention.dedupeMs}) end
`;

/** `leave(run, id, field)`: removes the run from the sets whose keys this field of its record lists. */
const LUA_SETS = `
local function leave(run, id, field)
  for key in string.gmatch(redis.call('HGET', run, field) or '', '[^\\n]+') do redis.call('ZREM', key, id) end
  redis.call('HDEL', run, field)
end
`;

/** `index(key, id, entry, how)`: `how` is `add`, `drop`, or `keep`, which only replaces an entry. */
const LUA_INDEX = `
local function index(key, id, entry, how)
  if how == 'drop' then redis.call('HDEL', key, id)
  elseif how == 'add' or redis.call('HEXISTS', key, id) == 1 then redis.call('HSET', key, id, entry) end
end
`;

type AcceptAnswer =
  | [kind: 'claimed', by: string]
  | [kind: 'full', by: string, quota: number]
  | [kind: 'accepted' | 'repeated' | 'stale'];

/** ARGV ends with the maximum of each of the run's quotas. KEYS end with these quotas, and the run's people. */
export const acceptScript = durableScript<AcceptAnswer>(`${LUA_WAKE}${LUA_SETS}${LUA_INDEX}
local run, active, responseUrl, claim, inbox, entries = unpack(KEYS)
local deadline, id, json, expected, rev, ttl, member, claimTtl, url, urlTtl, kept, permanent, ref, team, listed, how =
  unpack(ARGV)
local stored = redis.call('HGET', run, 'rev')
if expected == '' and stored then return {'repeated'} end
if expected ~= '' and stored ~= expected then return {'stale'} end
-- Only now: if the script is executed again, a run that it has kept must not count as late.
if now > tonumber(deadline) then return redis.error_reply('LATE it is after the deadline') end
local claims = claimTtl ~= '0'
if claims then
  local holder = redis.call('GET', claim)
  if holder and holder ~= id then return {'claimed', holder} end
end
local quotas = {}
for i = 17, #ARGV do
  local key, max, from = KEYS[7 + #quotas], tonumber(ARGV[i]), permanent == '1' and '-inf' or now - ttl
  local others = redis.call('ZRANGEBYSCORE', key, from, '+inf', 'LIMIT', 0, max + 1)
  for place, other in ipairs(others) do
    if other == id then table.remove(others, place) end
  end
  if #others >= max then return {'full', others[1], #quotas} end
  quotas[#quotas + 1] = key
end
-- The first write: only this one fails if Redis is full.
redis.call('HSET', run, 'json', json, 'rev', rev, 'team', team)
if not stored and ref ~= '' then redis.call('HSET', run, 'ref', ref) end
for _, key in ipairs({run, inbox}) do
  if permanent == '1' then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ttl) end
end
if stored then wake(run, active, member) else list(run, active, member) end
index(entries, id, listed, how)
if url ~= '' then redis.call('SET', responseUrl, url, 'PX', urlTtl) end
if claims and permanent == '1' then redis.call('SET', claim, id)
elseif claims then redis.call('SET', claim, id, 'PX', claimTtl) end
if #quotas > 0 then leave(run, id, 'quotas') end
for _, quota in ipairs(quotas) do
  if permanent ~= '1' then redis.call('ZREMRANGEBYSCORE', quota, '-inf', now - ttl) end
  redis.call('ZADD', quota, now, id)
  if permanent == '1' then redis.call('PERSIST', quota) else redis.call('PEXPIRE', quota, ttl) end
end
if #quotas > 0 then redis.call('HSET', run, 'quotas', table.concat(quotas, '\\n')) end
for i = 7 + #quotas, #KEYS do
  redis.call('ZADD', KEYS[i], now, id)
  redis.call('ZREMRANGEBYRANK', KEYS[i], 0, -1 - kept)
  redis.call('PEXPIRE', KEYS[i], ttl)
end
return {'accepted'}
`);

export const loadScript = luaScript<[[json: string | null, wakes: string | null], inbox: string[]]>(`
local run, inbox = unpack(KEYS)
return {redis.call('HMGET', run, 'json', 'wakes'), redis.call('LRANGE', inbox, 0, ARGV[1] - 1)}
`);

/** One command for many records: each command takes a write to the socket. */
export const loadAllScript = luaScript<(string | null)[]>(`
local found = {}
for i, run in ipairs(KEYS) do found[i] = redis.call('HGET', run, 'json') end
return found
`);

export const saveScript = durableScript<[kind: 'saved', wakes: number, inbox: string[]] | [kind: 'stale']>(
  `${LUA_NOW}${LUA_TTL}${LUA_SETS}${LUA_INDEX}
local run, inbox, claim, entries = unpack(KEYS)
local rev, json, nextRev, id, permanent, ttl, consumed, listed, how, most, release, ended = unpack(ARGV)
if redis.call('HGET', run, 'rev') ~= rev then return {'stale'} end
redis.call('HSET', run, 'json', json, 'rev', nextRev)
redis.call('LTRIM', inbox, consumed, -1)
index(entries, id, listed, how)
if ended == '1' then leave(run, id, 'quotas') end
-- The list of the workspace keeps since when a run asks; those of people have the latest first.
local ofTeam = KEYS[5]
local since = redis.call('ZSCORE', ofTeam, id)
leave(run, id, 'asked')
local asked = #KEYS > 5 and {unpack(KEYS, 5)} or {}
for _, key in ipairs(asked) do
  redis.call('ZADD', key, key == ofTeam and since or now, id)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - ttl)
  redis.call('PEXPIRE', key, ttl)
end
if #asked > 0 then redis.call('HSET', run, 'asked', table.concat(asked, '\\n')) end
local own = {run, inbox}
if redis.call('GET', claim) == id then
  if release == '1' then redis.call('DEL', claim) else own[3] = claim end
end
if permanent == '1' then for _, key in ipairs(own) do redis.call('PERSIST', key) end
else livesFor(ttl, unpack(own)) end
return {'saved', tonumber(redis.call('HGET', run, 'wakes') or 0), redis.call('LRANGE', inbox, 0, most - 1)}
`,
);

const idleScript = luaScript<0 | 1>(`${LUA_WAKE}${LUA_TTL}${LUA_SETS}
local run, active, inbox, claim = unpack(KEYS)
local rev, wakes, member, id, permanent, ttl = unpack(ARGV)
if rev ~= 'any' and (redis.call('HGET', run, 'rev') or '') ~= rev then return 0 end
if wakes ~= 'any' and (redis.call('HGET', run, 'wakes') or '0') ~= wakes then return 0 end
unlist(run, active, member)
if permanent ~= '1' then
  leave(run, id, 'quotas')
  livesFor(ttl, inbox)
end
if claim and redis.call('GET', claim) == id then redis.call('DEL', claim) end
return 1
`);

interface IdleOptions {
  rev: number | 'any' | undefined;
  wakes?: number | 'any';
  claim?: string | undefined;
}

/**
 * Removes a run or message from the due list until it is woken, and releases `claim`. Returns false if its record has
 * another `rev` (undefined is that of a missing record), or was woken since it had `wakes`.
 */
export async function markIdle(
  redis: RedisClient,
  run: RunRef & { permanent?: boolean | undefined },
  { rev, wakes = 'any', claim }: IdleOptions,
): Promise<boolean> {
  const claimKeys = claim === undefined ? [] : [keys.claim(claim)];
  const touched = [recordKey(run), keys.activeRuns(), keys.inbox(run.id), ...claimKeys];
  const args = [rev ?? '', wakes, memberOf(run), run.id, run.permanent ? 1 : 0, retention.runMs];
  return (await idleScript(redis, touched, args)) === 1;
}

export const wakeScript = durableScript(`${LUA_WAKE}
local run, active = unpack(KEYS)
if redis.call('EXISTS', run) == 1 then wake(run, active, ARGV[1]) end
return 1
`);

export const takeAliasScript = durableScript<0 | 1>(`
local held = redis.call('GET', KEYS[1]) or ''
if held ~= ARGV[1] and held ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`);

const appendScript = durableScript<'kept' | 'repeated' | 'gone'>(
  `${LUA_WAKE}${LUA_TTL}${LUA_DEDUPE}
local run, seen, inbox, active = unpack(KEYS)
local event, member, deadline, isDeduped = unpack(ARGV)
if redis.call('EXISTS', run) == 0 then return 'gone' end
-- If the script is executed again, an event that it has kept must not count as late.
if deadline ~= '' and now > tonumber(deadline) and redis.call('EXISTS', seen) == 0 then
  return redis.error_reply('LATE it is after the deadline')
end
if isDeduped == '1' and not isFirst(seen) then return 'repeated' end
if event ~= '' then
  redis.call('RPUSH', inbox, event)
  livesAs(run, inbox)
end
wake(run, active, member)
return 'kept'
`,
);

/**
 * An event, stored as JSON; without one, the run is only woken. Of those with the same `dedupeKey`, one is kept within
 * seven days; one without is always.
 */
export interface InboxEntry {
  event?: object | undefined;
  dedupeKey?: string | undefined;
}

/** Adds an event to the inbox of a run, unless `seen` has it, and wakes the run. `gone`: there is no such run. */
export function appendEvent(
  redis: RedisClient,
  run: RunRef,
  { event, dedupeKey }: InboxEntry,
  { seen = run.id, deadlineMs }: { seen?: string; deadlineMs?: number | undefined },
) {
  const of = keys.seenEvent(seen, dedupeKey ?? '');
  const touched = [keys.run(run.id), of, keys.inbox(run.id), keys.activeRuns()];
  const isDeduped = dedupeKey === undefined ? 0 : 1;
  const json = event === undefined ? '' : JSON.stringify(event);
  return appendScript(redis, touched, [json, memberOf(run), deadlineMs ?? '', isDeduped]);
}
