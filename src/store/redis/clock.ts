import { repeat } from '../../runtime/stopping.ts';
import { keys } from '../keys.ts';
import type { RedisClient } from './client.ts';
import { luaScript } from './lua.ts';

interface ClockParts {
  everyMs: number;
  machineMs: () => number;
  monotonicMs: () => number;
  /** Once it is aborted, Redis is not asked again. */
  stopping: AbortSignal;
}

/** Interval between requests for the time until an answer was fast enough. */
const RETRY_MS = 100;

/** A slower answer is inexact: Redis may have read its clock at any moment of the wait. */
const SLOW_MS = 500;

/** Returns the time that all processes share: Redis' clock, even if this machine's clock differs. */
export function createClock({ everyMs, machineMs, monotonicMs, stopping }: ClockParts) {
  let offsetMs: number | undefined;
  let isExact = false;
  let syncing: Promise<void> | undefined;

  async function ask(redis: RedisClient) {
    const askedMs = monotonicMs();
    const timeMs = await askTime(redis);
    const answeredMs = monotonicMs();
    const isSlow = answeredMs - askedMs > SLOW_MS;
    if (isSlow && isExact) return;
    // Never ahead: deadlines would expire too early.
    offsetMs = timeMs - (isSlow ? answeredMs : (askedMs + answeredMs) / 2);
    isExact = !isSlow;
  }

  function start(redis: RedisClient): Promise<void> {
    return new Promise((resolve) => {
      // While Redis is away, the time continues from its last answer.
      const sync = () => ask(redis).then(resolve, () => {});
      const pauseMs = () => (isExact ? everyMs : Math.min(RETRY_MS, everyMs));
      void sync().then(() => repeat(stopping, pauseMs, sync));
    });
  }

  return {
    /** Returns epoch milliseconds; from the machine's own clock until Redis has answered. */
    now: (): number => (offsetMs === undefined ? machineMs() : Math.round(monotonicMs() + offsetMs)),
    /** Asks Redis for the time now and every `everyMs`, unless it does already. Resolves after the first answer. */
    startSync(redis: RedisClient) {
      syncing ??= start(redis);
      return syncing;
    },
  };
}

// With one of our keys: in a cluster any node answers a bare TIME, and their clocks differ.
const timeScript = luaScript<[seconds: string, micros: string]>("return redis.call('TIME')");

/** Returns the time of the Redis that has Docket's data, in epoch milliseconds. */
export async function askTime(redis: RedisClient): Promise<number> {
  const [seconds, micros] = await timeScript(redis, [keys.clock()]);
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
