import { setTimeout as pause } from 'node:timers/promises';
import { Stopping } from '../runtime/stopping.ts';
import { keys } from './keys.ts';
import { type RedisClient, refusalOf } from './redis/client.ts';
import { durableScript } from './redis/lua.ts';
import { LUA_WAKE, memberOf } from './run-scripts.ts';
import type { RunBase } from './runs.ts';

/** The intent to make a call, replaced by its result. It is a field of the run's record. */
type CallRecord = { token: string; sinceMs: number } | { result: unknown };

/** The result of a call that must not happen twice. */
type CallOnceOutcome<T> =
  | { kind: 'done'; value: T }
  /** The call certainly did not happen; its intent is deleted, so it may be tried again. */
  | { kind: 'notHappened'; error: unknown }
  /** The caller found that it must not be made. */
  | { kind: 'notMade' }
  /** It may or may not have happened. Only a person may decide to make it again. */
  | { kind: 'unknown'; error?: unknown }
  /** The caller may still be waiting for the answer; try again after `forMs`. */
  | { kind: 'inFlight'; forMs: number };

/** Calls that must not happen twice, and their results. */
export type CallOnceStore = ReturnType<typeof createCallOnce>;

interface CallOnceParts {
  /** Added to the time limit of a call: after both, no process still waits for the call. */
  marginMs: number;
  /** Whether an error proves that the call did not happen. */
  didNotHappen: (error: unknown) => boolean;
  /** Once it is aborted, no intent is written. */
  stopping: AbortSignal;
  newToken: () => string;
  now: () => number;
}

/** What a call returns that must not be made, for a reason that is no error of the other side. */
export const notMade: unique symbol = Symbol('not made');

const fieldOf = (step: string) => `call:${step}`;

// A result may come when its run is idle, or is about to be. Then the run is due again.
const finishScript = durableScript(`${LUA_WAKE}
local run, active = unpack(KEYS)
local field, result, member = unpack(ARGV)
if redis.call('EXISTS', run) == 0 then return 0 end
redis.call('HSET', run, field, result)
if redis.call('ZSCORE', active, member) then redis.call('HINCRBY', run, 'wakes', 1)
else wake(run, active, member) end
return 1
`);

// A process that was taken for dead has an old revision: another one may have made this call, and forgotten it.
const intendScript = durableScript<string | null>(`
local run = KEYS[1]
local field, intent, rev = unpack(ARGV)
local stored = redis.call('HGET', run, field)
if stored then return stored end
if redis.call('HGET', run, 'rev') ~= rev then return false end
redis.call('HSET', run, field, intent)
return intent
`);

const clearScript = durableScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
`);

/**
 * Writes the intent to make a call, unless there is one or a result. Returns the stored intent or result; undefined if
 * there is none because the run is gone or has another revision. `token` is unique to this intent: a write whose answer
 * is lost is repeated, and must recognize its own intent.
 */
export async function writeIntent(
  redis: RedisClient,
  { id, rev }: Pick<RunBase, 'id' | 'rev'>,
  step: string,
  intent: { token: string; sinceMs: number },
): Promise<CallRecord | undefined> {
  const json = await intendScript(redis, [keys.run(id)], [fieldOf(step), JSON.stringify(intent), rev]);
  return json === null ? undefined : JSON.parse(json);
}

/** After a failover, the new primary refuses writes until its first replica is there: within seconds. */
const REPLICA_TRIES = 40;
const REPLICA_PAUSE_MS = 250;

/** Repeats a write that waits for a replica: only this process knows the result. */
async function whileNoReplica(write: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await write();
      return;
    } catch (error) {
      if (refusalOf(error) !== 'NOREPLICAS' || tries === REPLICA_TRIES) throw error;
      await pause(REPLICA_PAUSE_MS);
    }
  }
}

/** Makes calls that must not happen twice. */
export function createCallOnce(redis: RedisClient, parts: CallOnceParts) {
  const { marginMs, didNotHappen, stopping, newToken, now } = parts;
  return {
    /**
     * Makes a call at most once per run and step, even after a crash: writes the intent before the call, and the result
     * after it. Begins no call if the run has changed since it was loaded. Throws `Stopping` if neither can be written.
     * `limitMs` is the time limit of the call. `isTooLate` says whether other processes may already treat the call as
     * lost, so that it must not be made. The
     * call may return `notMade` instead of being made.
     */
    async callOnce<T>(
      run: Pick<RunBase, 'id' | 'job' | 'rev'>,
      step: string,
      limitMs: number,
      call: (isTooLate: () => boolean) => Promise<T | typeof notMade>,
    ): Promise<CallOnceOutcome<T>> {
      stopping.throwIfAborted();
      const key = keys.run(run.id);
      const field = fieldOf(step);
      const intent = { token: newToken(), sinceMs: now() };
      const clear = () => clearScript(redis, [key], [field, JSON.stringify(intent)]);
      const stored = await writeIntent(redis, run, step, intent);
      if (stored === undefined) return { kind: 'inFlight', forMs: 0 };
      if ('result' in stored) return { kind: 'done', value: stored.result as T };
      if (stored.token !== intent.token) {
        const forMs = Math.min(stored.sinceMs - now(), 0) + limitMs + marginMs;
        return forMs > 0 ? { kind: 'inFlight', forMs } : { kind: 'unknown' };
      }
      const isTooLate = () => now() - intent.sinceMs > marginMs;
      if (isTooLate()) {
        await clear();
        return { kind: 'inFlight', forMs: 0 };
      }
      let value: T | typeof notMade;
      try {
        value = await call(isTooLate);
      } catch (error) {
        const stopped = error instanceof Stopping;
        if (!stopped && !didNotHappen(error)) return { kind: 'unknown', error };
        await clear();
        if (stopped) throw error;
        return { kind: 'notHappened', error };
      }
      if (value === notMade) {
        await clear();
        return { kind: 'notMade' };
      }
      const result = JSON.stringify({ result: value ?? null });
      await whileNoReplica(() =>
        finishScript(redis, [key, keys.activeRuns()], [field, result, memberOf(run)]),
      );
      return { kind: 'done', value: value as T };
    },
    /** Returns the result of such a call, if there is one. */
    async callResult(runId: string, step: string): Promise<{ result: unknown } | undefined> {
      const json = await redis.hget(keys.run(runId), fieldOf(step));
      const call: CallRecord | undefined = json === null ? undefined : JSON.parse(json);
      return call !== undefined && 'result' in call ? call : undefined;
    },
    /** Whether such a call was begun. Without a result, it may have happened. */
    callBegan: async (runId: string, step: string): Promise<boolean> =>
      (await redis.hexists(keys.run(runId), fieldOf(step))) === 1,
    /** Deletes the result of a call that no step asks for any more. */
    async forgetCall(runId: string, step: string): Promise<void> {
      await redis.hdel(keys.run(runId), fieldOf(step));
    },
  };
}
