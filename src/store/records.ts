import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Records per read. */
const CHUNK = 200;

/** Returns the records of runs, as JSON by their ids; runs without a record are left out. */
export async function loadRecords(redis: RedisClient, ids: readonly string[]): Promise<[string, string][]> {
  const records: [string, string][] = [];
  for (let from = 0; from < ids.length; from += CHUNK) {
    const chunk = ids.slice(from, from + CHUNK);
    const found = await Promise.all(chunk.map((id) => redis.hget(keys.run(id), 'json')));
    records.push(
      ...chunk.flatMap((id, index): [string, string][] => {
        const json = found[index] ?? null;
        return json === null ? [] : [[id, json]];
      }),
    );
  }
  return records;
}
