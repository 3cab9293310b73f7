import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import { LUA_NOW, lastingScript, luaScript } from './redis/lua.ts';

interface RunRef {
  job: string;
  id: string;
}
interface SavedRun {
  id: string;
  rev: number;
  claim?: string | undefined;
  lasting?: boolean | undefined;
}

/** The member of a run in the due list. */
export const memberOf = ({ job, id }: RunRef) => `${job} ${id}`;

export function parseMember(member: string): RunRef {
  const [job = '', id = ''] = member.split(' ');
  return { job, id };
}

/** `indexOf(active, member)` returns the key of the active runs of the run's job (`keys.activeRunsOf`), and its id. */
const LUA_INDEX = `
local function indexOf(active, member)
  local job, id = string.match(member, '^([^ ]*) (.*)$')
  return active .. ':' .. job, id
end
`;

/**
 * `list(active, member)`: makes the run due now. `wake(run, active, member)`: also lets a running step see that the run
 * was woken. Both need LUA_NOW.
 */
export const LUA_WAKE = `${LUA_INDEX}
local function list(active, member)
  local index, id = indexOf(active, member)
  redis.call('ZADD', active, now, member)
  redis.call('ZADD', index, 'NX', now, id)
end
local function wake(run, active, member)
  redis.call('HINCRBY', run, 'wakes', 1)
  list(active, member)
end
`;

/** `unlist(active, member)`: removes an idle run from the due list. */
const LUA_UNLIST = `${LUA_INDEX}
local function unlist(active, member)
  local index, id = indexOf(active, member)
  redis.call('ZREM', active, member)
  redis.call('ZREM', index, id)
end
`;

/**
 * `livesFor(ttl, ...)` sets a time to live on those keys that have none; `livesAs(run, key)` gives a key the time to
 * live of the run's record.
 */
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

/**
 * `isLatest(names, args)`, `save(names, args)` and `wakesOf(names)`. Their arguments begin with `saveKeys` and
 * `saveArgs`. `wakesOf` returns the run's number of wakes.
 */
export const LUA_SAVE = `${LUA_TTL}
local function isLatest(names, args) return redis.call('HGET', names[1], 'rev') == args[1] end
local function wakesOf(names) return tonumber(redis.call('HGET', names[1], 'wakes') or 0) end
local function save(names, args)
  local record, inbox, claim = unpack(names)
  local _, json, rev, id, lasting, ttl = unpack(args)
  redis.call('HSET', record, 'json', json, 'rev', rev)
  local own = {record, inbox}
  if redis.call('GET', claim) == id then own[3] = claim end
  if lasting ~= '1' then return livesFor(ttl, unpack(own)) end
  for _, key in ipairs(own) do redis.call('PERSIST', key) end
end
`;

export const saveKeys = ({ id, claim }: SavedRun): string[] => [
  keys.run(id),
  keys.inbox(id),
  keys.claim(claim ?? ''),
];

export const saveArgs = (run: SavedRun, next: SavedRun): (string | number)[] => [
  run.rev,
  JSON.stringify(next),
  next.rev,
  run.id,
  run.lasting === true ? '1' : '0',
  retention.runMs,
];

/**
 * `isAtWork(…)`: the run has not ended, and is listed or kept until a person ends it. `oldestOf(quota, max, id, …)`
 * returns the oldest run in a full quota, except `id` itself; runs that no longer count are removed.
 */
const LUA_QUOTA = `
local function isAtWork(active, member, run)
  local json = redis.call('HGET', run, 'json')
  if not json then return false end
  local listed = redis.call('ZSCORE', active, member)
  local read, record = pcall(cjson.decode, json)
  if not read then return listed end
  return record.state ~= 'ended' and record.state ~= 'removed' and (listed or record.lasting == true)
end
local function oldestOf(quota, max, id, active, members, runs)
  local count, oldest = 0, nil
  for _, other in ipairs(redis.call('ZRANGE', quota, 0, -1)) do
    if other ~= id and isAtWork(active, members .. other, runs .. other) then
      count, oldest = count + 1, oldest or other
    elseif other ~= id then redis.call('ZREM', quota, other) end
  end
  return count >= max and oldest
end
`;

type AcceptAnswer =
  | [kind: 'claimed', by: string]
  | [kind: 'full', by: string, quota: number]
  | [kind: 'accepted' | 'repeated' | 'late' | 'stale'];

export const acceptScript = lastingScript<AcceptAnswer>(`${LUA_NOW}${LUA_WAKE}${LUA_QUOTA}
local deadline, id, json, expected, rev, ttl, member, claimTtl, url, urlTtl, claims, kept, lasting = unpack(ARGV)
local runs, members, ref = unpack(ARGV, 14)
local quotas = (#ARGV - 16) / 2
local run, active, responseUrl, claim, inbox = unpack(KEYS)
local stored = redis.call('HGET', run, 'rev')
if expected == '' and stored then return {'repeated'} end
if expected ~= '' and stored ~= expected then return {'stale'} end
-- Only now: a script that is executed again must not call late what it has kept.
if now > tonumber(deadline) then return {'late'} end
if claims == '1' then
  local holder = redis.call('GET', claim)
  if holder and holder ~= id then return {'claimed', holder} end
end
for i = 1, quotas do
  local oldest = oldestOf(KEYS[5 + i], tonumber(ARGV[16 + i]), id, active, members, runs)
  if oldest then return {'full', oldest, i - 1} end
end
redis.call('HSET', run, 'json', json, 'rev', rev)
if not stored and ref ~= '' then redis.call('HSET', run, 'ref', ref) end
for _, key in ipairs({run, inbox}) do
  if lasting == '1' then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ttl) end
end
if stored then wake(run, active, member) else list(active, member) end
if url ~= '' then redis.call('SET', responseUrl, url, 'PX', urlTtl) end
if claims == '1' and lasting == '1' then redis.call('SET', claim, id)
elseif claims == '1' then redis.call('SET', claim, id, 'PX', claimTtl) end
for i = 6, 5 + quotas do
  redis.call('ZADD', KEYS[i], now, id)
  if ARGV[11 + quotas + i] == '1' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIRE', KEYS[i], ttl) end
end
for i = 6 + quotas, #KEYS do
  redis.call('ZADD', KEYS[i], now, id)
  redis.call('ZREMRANGEBYRANK', KEYS[i], 0, -1 - kept)
  redis.call('PEXPIRE', KEYS[i], ttl)
end
return {'accepted'}
`);

export const saveScript = lastingScript<number | null>(`${LUA_SAVE}
if not isLatest(KEYS, ARGV) then return false end
save(KEYS, ARGV)
if ARGV[7] == '1' and redis.call('GET', KEYS[3]) == ARGV[4] then redis.call('DEL', KEYS[3]) end
return wakesOf(KEYS)
`);

export const markIdleScript = luaScript<0 | 1>(`${LUA_UNLIST}
local rev, id, member, wakes = unpack(ARGV)
if redis.call('HGET', KEYS[1], 'rev') ~= rev then return 0 end
if wakes ~= '' and (redis.call('HGET', KEYS[1], 'wakes') or '0') ~= wakes then return 0 end
unlist(KEYS[2], member)
if KEYS[3] and redis.call('GET', KEYS[3]) == id then redis.call('DEL', KEYS[3]) end
return 1
`);

export const wakeScript = luaScript(`${LUA_NOW}${LUA_WAKE}
if redis.call('EXISTS', KEYS[1]) == 1 then wake(KEYS[1], KEYS[2], ARGV[1]) end
return 1
`);

// A run whose record is back stays listed.
export const unlistScript = luaScript(`${LUA_TTL}${LUA_UNLIST}
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
unlist(KEYS[1], ARGV[1])
livesFor(ARGV[2], KEYS[3])
return 1
`);
