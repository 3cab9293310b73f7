import { LUA_NOW } from './redis/lua.ts';

// Two counts, since neither can stand for the other: slots that come back one by one would allow twice the count in a
// window, and a window would let all of it go at once, where the other side counts by the second.

/**
 * `count` slots in any window: a sorted set of uses by their time. Uses ahead of now were counted before Redis' clock
 * was set back.
 */
const LUA_WINDOW_COUNT = `
local function windowCount(key, count, window)
  local function used()
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
    for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. string.format('%.0f', now), '+inf')) do
      redis.call('ZADD', key, now, ahead)
    end
    return redis.call('ZCARD', key)
  end
  local function wait(place, held)
    local taken = used()
    local ends, windows = taken - count + place, 1
    while ends >= taken do ends, windows = ends - count, windows + 1 end
    -- Slots that are free by now are taken when the hold is over.
    if ends < 0 then return held + (windows - 1) * window end
    local from = tonumber(redis.call('ZRANGE', key, ends, ends, 'WITHSCORES')[2])
    return math.max(held, from + windows * window - now)
  end
  local function add(id)
    redis.call('ZADD', key, now, id)
    redis.call('PEXPIRE', key, window)
  end
  return {
    holdMs = 0, used = used, wait = wait, add = add,
    has = function(id) return redis.call('ZSCORE', key, id) end,
    remove = function(id) redis.call('ZREM', key, id) end,
  }
end
`;

/**
 * Slots one by one: the generic cell rate algorithm. The one number kept is when all `burst` will be free again; from a
 * hold they come back one by one as well. A time further ahead than can be is from before Redis' clock was set back.
 */
const LUA_SPACED_COUNT = `
local function spacedCount(key, gap, burst)
  local function allFreeIn(held)
    return math.max(held, math.min(tonumber(redis.call('GET', key) or 0) - now, burst * gap))
  end
  local function add(_, held)
    local inMs = allFreeIn(held) + gap
    redis.call('SET', key, now + inMs, 'PX', math.ceil(inMs))
  end
  return {
    holdMs = (burst - 1) * gap, add = add,
    -- Gaps are fractions of milliseconds.
    used = function(held) return math.ceil(allFreeIn(held) / gap - 0.001) end,
    wait = function(place, held) return allFreeIn(held) + (place + 1 - burst) * gap end,
    has = function() return false end,
    remove = function() end,
  }
end
`;

/**
 * Who waits is in `order`, by rank, round and time since when. A group's first goes in the round that is served now, or
 * in the next one if it has just been served; its others in the rounds after it, by their time. So one group's many
 * hold up nobody else's. `mine` has each group's, and `places` what stands in the two of each who waits.
 */
const LUA_LINE = `
local function waitingLine(order, till, mine, places, rounds)
  local line = {}
  local function member(rank, middle, since, id)
    return string.format('%02d %s %015.0f %s', rank, middle, since, id)
  end
  local function placeOf(id)
    local kept = redis.call('HGET', places, id)
    return kept and cjson.decode(kept)
  end
  local function keepFor(ms, ...)
    for _, key in ipairs({...}) do redis.call('PEXPIRE', key, math.max(ms, redis.call('PTTL', key))) end
  end
  function line.leave(id)
    local place = placeOf(id)
    if place then
      redis.call('ZREM', order, place.order)
      redis.call('ZREM', mine, place.mine)
      redis.call('HDEL', places, id)
    end
    redis.call('ZREM', till, id)
  end
  -- Takes out those who are waited for no longer, or for longer than can be: since before Redis' clock was set back.
  function line.length(longest)
    for _, range in ipairs({{'-inf', now}, {now + longest + 1, '+inf'}}) do
      for _, id in ipairs(redis.call('ZRANGEBYSCORE', till, unpack(range))) do line.leave(id) end
    end
    return redis.call('ZCARD', order)
  end
  function line.enter(id, rank, since, group)
    local before = placeOf(id)
    if before then
      if before.rank < rank or (before.rank == rank and before.since < since) then
        rank, since = before.rank, before.since
      end
      line.leave(id)
    end
    local round = tonumber(redis.call('HGET', rounds, rank) or 0)
    local own = member(rank, group, since, id)
    if group ~= '' then
      local last = redis.call('HGET', rounds, rank .. ' ' .. group)
      if last then round = math.max(round, last + 1) end
      redis.call('ZADD', mine, 0, own)
      round = round + redis.call('ZLEXCOUNT', mine, string.format('[%02d %s ', rank, group), '(' .. own)
    end
    local inOrder = member(rank, string.format('%010.0f', round), since, id)
    redis.call('ZADD', order, 0, inOrder)
    local place = {rank = rank, since = since, round = round, order = inOrder, mine = own}
    redis.call('HSET', places, id, cjson.encode(place))
    return place, redis.call('ZRANK', order, inOrder)
  end
  function line.waitFor(id, ms)
    redis.call('ZADD', till, now + ms, id)
    keepFor(ms, order, till, mine, places, rounds)
  end
  function line.serve(place, group, ms)
    redis.call('HSET', rounds, place.rank, math.max(place.round, redis.call('HGET', rounds, place.rank) or 0))
    if group ~= '' then redis.call('HSET', rounds, place.rank .. ' ' .. group, place.round) end
    keepFor(ms, rounds)
  end
  return line
end
`;

/**
 * `rateLimit(names, args)` with `limitKeys` and `slotArgs`. Its `take()` takes a slot and returns 0, or takes a place
 * in the line and returns in how many milliseconds to ask again, and whether that is for the hold alone (1 or 0). The
 * slots that are free belong to the first in the line; everybody else gets the time when those ahead will have had theirs.
 * Brings `now` along.
 */
export const LUA_RATE_LIMIT = `${LUA_NOW}${LUA_WINDOW_COUNT}${LUA_SPACED_COUNT}${LUA_LINE}
local function rateLimit(names, args)
  local counted, order, till, hold, mine, places, rounds = unpack(names)
  local count, window, burst, longest, grace = unpack(args, 1, 5)
  local id, rank, since, group, spare = unpack(args, 6)
  local slots = burst == '0' and windowCount(counted, count, window) or spacedCount(counted, window / count, burst)
  local line = waitingLine(order, till, mine, places, rounds)
  local limit = {}

  -- How long the hold lasts; one from before Redis' clock was set back is over. The last release keeps a string.
  local function heldMs()
    if redis.call('TYPE', hold).ok == 'string' then return math.max(0, redis.call('PTTL', hold)) end
    local from, full = unpack(redis.call('HMGET', hold, 'since', 'full'))
    return from and tonumber(from) <= now and math.max(0, full - now) or 0
  end
  local function waitOf(place, held)
    local wait = slots.wait(place, held)
    -- Gaps are fractions of milliseconds.
    return wait > 0.01 and math.ceil(wait) or 0, wait == held and 1 or 0
  end
  function limit.take()
    line.length(longest + grace)
    local held = heldMs()
    local place, index, wait, isHold
    if slots.has(id) then
      wait, isHold = math.ceil(held), 1
    else
      place, index = line.enter(id, tonumber(rank), tonumber(since), group)
      wait, isHold = waitOf(index + spare, held)
    end
    if wait > 0 then
      wait = math.min(wait, longest)
      line.waitFor(id, wait + grace)
      return wait, isHold
    end
    line.leave(id)
    if place then line.serve(place, group, math.min(longest, window) + grace) end
    slots.add(id, held)
    return 0
  end
  function limit.release()
    line.leave(id)
    slots.remove(id)
  end
  function limit.hold(ms)
    local inMs = ms + slots.holdMs
    if inMs <= heldMs() then return end
    redis.call('DEL', hold)
    redis.call('HSET', hold, 'since', now, 'full', now + inMs)
    redis.call('PEXPIRE', hold, math.ceil(inMs))
  end
  function limit.usage()
    local held = heldMs()
    return {slots.used(held), line.length(longest + grace), (waitOf(0, held))}
  end
  function limit.freeIn(wanted)
    return (waitOf(wanted - 1, heldMs()))
  end
  return limit
end
`;
