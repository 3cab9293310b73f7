import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { lastingScript, luaScript } from './redis/lua.ts';
import { LUA_WAKE } from './run-scripts.ts';

/** The state of a step that must not happen twice. `result` is the call's answer, as JSON. */
export type CallOnceState =
  | { kind: 'begun' }
  | { kind: 'open'; sinceMs: number }
  | { kind: 'finished'; result: unknown };

/** Intents and results of calls that must not happen twice, by run and step. */
export type CallOnceStore = ReturnType<typeof createCallOnceStore>;

const beginScript = lastingScript<[kind: CallOnceState['kind'], value?: string]>(`
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'token', ARGV[1], 'since', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return {'begun'}
end
local result = redis.call('HGET', KEYS[1], 'result')
if result then return {'finished', result} end
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] then return {'begun'} end
return {'open', redis.call('HGET', KEYS[1], 'since')}
`);

const finishScript = lastingScript(`${LUA_WAKE}
local step, run, active = unpack(KEYS)
local result, ttl, id = unpack(ARGV)
redis.call('HSET', step, 'result', result)
redis.call('PEXPIRE', step, ttl)
local read, record = pcall(cjson.decode, redis.call('HGET', run, 'json') or 'null')
if not read or type(record) ~= 'table' or not record.job then return 0 end
local member = record.job .. ' ' .. id
if not redis.call('ZSCORE', active, member) then wake(run, active, member) end
return 1
`);

const clearScript = luaScript(`
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] and redis.call('HEXISTS', KEYS[1], 'result') == 0 then
  return redis.call('DEL', KEYS[1])
end
return 0
`);

export function createCallOnceStore(redis: RedisClient) {
  return {
    /**
     * Records the intent to make the call. `token` is unique to this intent: if a script's answer is lost, it is sent
     * again, and must recognize its own intent.
     */
    async begin(runId: string, dedupeKey: string, token: string, nowMs: number): Promise<CallOnceState> {
      const args = [token, nowMs, retention.runMs];
      const [kind, value = 'null'] = await beginScript(redis, [keys.step(runId, dedupeKey)], args);
      if (kind === 'finished') return { kind, result: JSON.parse(value) };
      return kind === 'open' ? { kind, sinceMs: Number(value) } : { kind };
    },
    /** Records the result, even if it comes late. Its run is then due again, even after a crash. */
    async finish(runId: string, dedupeKey: string, result: unknown) {
      const touched = [keys.step(runId, dedupeKey), keys.run(runId), keys.activeRuns()];
      await finishScript(redis, touched, [JSON.stringify(result ?? null), retention.runMs, runId]);
    },
    /** Returns the result, if there is one. */
    async result(runId: string, dedupeKey: string): Promise<{ value: unknown } | undefined> {
      const json = await redis.hget(keys.step(runId, dedupeKey), 'result');
      return json === null ? undefined : { value: JSON.parse(json) };
    },
    /** Deletes the intent of a call that certainly did not happen. */
    async clear(runId: string, dedupeKey: string, token: string) {
      await clearScript(redis, [keys.step(runId, dedupeKey)], [token]);
    },
  };
}
