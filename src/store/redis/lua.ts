import { hash } from 'node:crypto';
import { primaryOf, type RedisClient } from './client.ts';

/** Lua that sets the local `now` to the time of Redis, in whole milliseconds. */
export const LUA_NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Returns a Lua script as a function. The call names the digest of the script. If Redis does not know the digest, the
 * whole script follows, and runs after commands that were sent in between. `Answer` is the script's return type: whole
 * numbers, strings, arrays of them, and `null` for nil or false.
 */
export function luaScript<Answer = unknown>(source: string) {
  const digest = hash('sha1', source);
  return async (redis: RedisClient, keys: string[], args: readonly (string | number)[] = []) => {
    try {
      return (await redis.evalsha(digest, keys.length, ...keys, ...args)) as Answer;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return (await redis.eval(source, keys.length, ...keys, ...args)) as Answer;
    }
  };
}

/**
 * The same for writes that must survive a failover, such as an accepted request, or the intent to make a call once: it
 * resolves when a replica has the write. It may be executed twice.
 */
export function durableScript<Answer = unknown>(source: string): ReturnType<typeof luaScript<Answer>> {
  const script = luaScript<Answer>(source);
  return (redis, keys, args) => waitForReplica(redis, () => script(redis, keys, args));
}

/** How long a write waits for a replica. A longer wait would delay everything behind it. */
const COPY_MS = 300;

/** Maximum tries of a write whose connection ends before a replica has it. */
const MAX_WRITES = 3;

/** The connections whose primary has a replica that keeps up. */
const withReplica = new WeakSet<RedisClient>();

/** Records INFO of a connection's primary. While a replica keeps up, writes wait for it. */
export function noteReplicas(client: RedisClient, info: Record<string, string>) {
  const hasReplica = Object.values(info).some(
    (value) => value.includes(',state=online,') && /,lag=[0-3](?:,|$)/.test(value),
  );
  if (hasReplica) withReplica.add(client);
  else withReplica.delete(client);
}

/**
 * Makes a write, waits until a replica has it, and returns the write's answer. If the connection ends in between, the
 * new primary may not have the write, so it is repeated: it must be harmless twice. The wait for a slow replica ends
 * early; `min-replicas-to-write` then makes Redis refuse writes.
 */
export async function waitForReplica<T>(client: RedisClient, write: () => Promise<T>): Promise<T> {
  for (let made = 1; made <= MAX_WRITES; made += 1) {
    const stream = primaryOf(client)?.stream;
    const answer = await write();
    if (!withReplica.has(client)) return answer;
    const copied = primaryOf(client)?.wait(1, COPY_MS);
    // A server that cannot wait is no longer the primary, or its connection has ended.
    const isPrimary = await copied?.then(
      () => true,
      () => false,
    );
    if (isPrimary !== false && primaryOf(client)?.stream === stream) return answer;
  }
  throw new Error('connections to Redis keep ending before a replica has the write');
}
