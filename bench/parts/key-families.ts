import type { Redis } from 'ioredis';

/** What Redis holds of one family of keys: how many keys, and how many entries in them. */
export interface Held {
  keys: number;
  entries: number;
}

/** What the family of a queue's events ends with. */
export const EVENTS = ' events';

const COUNTS: Record<string, string> = {
  hash: 'hlen',
  list: 'llen',
  set: 'scard',
  zset: 'zcard',
  stream: 'xlen',
};

/**
 * Counts all keys by what stands behind the hash tag, such as `run` and `docs-export`; what is over counts no more. The
 * events of a queue are a family of their own: BullMQ keeps some 10,000 of each.
 */
export async function keyFamilies(client: Redis): Promise<Map<string, Held>> {
  const families = new Map<string, Held>();
  for await (const batch of client.scanStream({ count: 1000 })) {
    const found = [...new Set(batch as string[])];
    const types = await pipelined(
      client,
      found.map((key) => ['type', key]),
    );
    const entries = await pipelined(
      client,
      found.map((key, at) => {
        return [COUNTS[String(types[at])] ?? 'exists', key];
      }),
    );
    for (const [at, key] of found.entries()) {
      if (types[at] === 'none') continue;
      const family = `${key.split(':')[1]}${key.endsWith(':events') ? EVENTS : ''}`;
      const held = families.get(family) ?? { keys: 0, entries: 0 };
      families.set(family, { keys: held.keys + 1, entries: held.entries + Number(entries[at]) });
    }
  }
  return families;
}

async function pipelined(client: Redis, commands: string[][]): Promise<unknown[]> {
  const answers = (await client.pipeline(commands).exec()) ?? [];
  return answers.map(([error, value]) => {
    if (error) throw error;
    return value;
  });
}
