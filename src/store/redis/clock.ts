import type { Redis } from 'ioredis';

/** The time that all processes agree on: that of Redis, whatever the clock of this machine shows. */
export interface Clock {
  /** Epoch milliseconds; the machine's own until Redis has been asked. */
  now(): number;
  /** Asks Redis now and every so often, unless it does already. Resolves when it has answered for the first time. */
  startSync(redis: Redis): Promise<void>;
  stop(): void;
}

export interface ClockParts {
  everyMs: number;
  machineMs: () => number;
  monotonicMs: () => number;
}

/** How soon it is asked again before it has answered once without delay. */
const RETRY_MS = 100;

/** An answer that took longer says too little of what time it is; most of it the question may have waited for Redis. */
const SLOW_MS = 500;

export function createClock({ everyMs, machineMs, monotonicMs }: ClockParts): Clock {
  let offsetMs: number | undefined;
  let isExact = false;
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> | undefined;
  let stopped = false;

  async function ask(redis: Redis) {
    const askedMs = monotonicMs();
    const timeMs = redisMs(await redis.time());
    const answeredMs = monotonicMs();
    const isSlow = answeredMs - askedMs > SLOW_MS;
    if (isSlow && isExact) return;
    // Never ahead: what people wait for would count as over.
    offsetMs = timeMs - (isSlow ? answeredMs : (askedMs + answeredMs) / 2);
    isExact = !isSlow;
  }

  function start(redis: Redis): Promise<void> {
    return new Promise((resolve) => {
      const tick = async () => {
        // Redis is away: the time goes on from its last answer.
        await ask(redis).then(resolve, () => {});
        const pauseMs = isExact ? everyMs : Math.min(RETRY_MS, everyMs);
        if (!stopped) timer = setTimeout(tick, pauseMs);
      };
      void tick();
    });
  }

  return {
    now: () => (offsetMs === undefined ? machineMs() : Math.round(monotonicMs() + offsetMs)),
    startSync(redis) {
      syncing ??= start(redis);
      return syncing;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** What `TIME` answers, in epoch milliseconds. */
export const redisMs = ([seconds, micros]: (string | number)[]): number =>
  Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
