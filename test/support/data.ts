import type { Redis } from 'ioredis';

/** The data of a Redis as JSON: each key with its type, and its value as the command that reads it returns it. */
type Data = Record<string, { type: string; value: unknown }>;

const readers: Record<string, (client: Redis, key: string) => Promise<unknown>> = {
  string: (client, key) => client.get(key),
  hash: (client, key) => client.hgetall(key),
  zset: (client, key) => client.zrange(key, '0', '-1', 'WITHSCORES'),
  list: (client, key) => client.lrange(key, 0, -1),
  set: (client, key) => client.smembers(key),
  stream: (client, key) => client.xrange(key, '-', '+'),
};

/** Returns all data, without their times to live. */
export async function readData(client: Redis): Promise<Data> {
  const data: Data = {};
  for (const key of (await client.keys('*')).toSorted()) {
    const type = await client.type(key);
    data[key] = { type, value: await readers[type]?.(client, key) };
  }
  return data;
}

const writers: Record<string, (client: Redis, key: string, value: never) => Promise<unknown>> = {
  string: (client, key, value: string) => client.set(key, value),
  hash: (client, key, value: object) => client.hset(key, value),
  zset: async (client, key, value: string[]) => {
    for (let at = 0; at < value.length; at += 2) await client.zadd(key, value[at + 1] ?? '', value[at] ?? '');
  },
  list: (client, key, value: string[]) => client.rpush(key, ...value),
  set: (client, key, value: string[]) => client.sadd(key, ...value),
  stream: async (client, key, value: [string, string[]][]) => {
    for (const [id, fields] of value) await client.xadd(key, id, ...fields);
  },
};

/** Writes what `readData` returned into an empty Redis. */
export async function restoreData(client: Redis, data: Data): Promise<void> {
  for (const [key, { type, value }] of Object.entries(data))
    await writers[type]?.(client, key, value as never);
}
