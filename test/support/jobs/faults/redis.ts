import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Process } from './engine.ts';

/** Redis' own clock, as its scripts read it, is this key. */
const CLOCK_KEY = '{docket}:test-clock';
const LUA_TIME = "redis.call('TIME')";
const LUA_TEST_TIME = `redis.call('HMGET', '${CLOCK_KEY}', 's', 'us')`;

/** The digests of the scripts that are loaded, by those of the originals. */
const digests = new Map<string, string>();

/** Returns the connection with scripts that read the test's clock as the time of Redis. */
export function onTestClock(client: Redis, clock: { ms: number }): Redis {
  let shownMs = 0;
  function run(digest: string, rest: (string | number)[]) {
    if (shownMs !== clock.ms) {
      shownMs = clock.ms;
      void client.hset(CLOCK_KEY, { s: Math.floor(shownMs / 1000), us: (shownMs % 1000) * 1000 });
    }
    const [count = 0, ...args] = rest;
    return client.evalsha(digest, Number(count), ...args);
  }
  const scripts = {
    async evalsha(digest: string, ...rest: (string | number)[]) {
      const known = digests.get(digest);
      if (known === undefined) throw new Error('NOSCRIPT');
      return run(known, rest);
    },
    async eval(source: string, ...rest: (string | number)[]) {
      const loaded = String(await client.script('LOAD', source.replaceAll(LUA_TIME, LUA_TEST_TIME)));
      digests.set(hash('sha1', source), loaded);
      return run(loaded, rest);
    },
  };
  return new Proxy(client, {
    get(target, name) {
      if (name === 'eval' || name === 'evalsha') return scripts[name];
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Returns the connection of one process: each command crosses its border. */
export function redisOf(redis: Redis, cross: Process['cross'], failed: () => Error): Redis {
  return new Proxy(redis, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name === 'multi')
        return () => {
          const batch = target.multi();
          const exec = batch.exec.bind(batch);
          batch.exec = () => cross({ name: 'redis.exec', call: exec, failed, isOnce: true });
          return batch;
        };
      return (...args: unknown[]) => {
        // A script that is not loaded yet is sent once more: that is the same call.
        const isUnknown = name === 'evalsha' && !digests.has(String(args[0]));
        if (isUnknown) return value(...args);
        return cross({
          name: `redis.${name === 'eval' ? 'evalsha' : String(name)}`,
          call: () => value(...args),
          failed,
        });
      };
    },
  });
}
