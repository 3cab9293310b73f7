import { keys, PREFIX } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { luaScript } from './redis/lua.ts';

/** The schema of all stored data. Raise it if a change does not fit the data of the last release. */
const SCHEMA = 2;

/** The data in Redis have a schema that this Docket cannot read. The message says what to do. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';

  constructor(found: string) {
    super(
      `These data have ${found === '' ? 'no schema' : `schema ${found}`}; this Docket reads ${SCHEMA}. ` +
        'Run the matching release, or empty the data (docs/upgrade.md).',
    );
  }
}

// BullMQ writes a key for each queue when Docket first starts, and it never expires.
const schemaScript = luaScript<string>(`
local found = redis.call('GET', KEYS[1])
if found then return found end
if #KEYS > 1 and redis.call('EXISTS', unpack(KEYS, 2)) > 0 then return '' end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
`);

/**
 * Writes the schema number if there are no data of these queues yet. Throws `SchemaMismatch` if the data have another
 * number, or none.
 */
export async function checkSchema(redis: RedisClient, queues: readonly string[]): Promise<void> {
  const metas = queues.map((queue) => `${PREFIX}:${queue}:meta`);
  const found = await schemaScript(redis, [keys.schema(), ...metas], [SCHEMA]);
  if (found !== String(SCHEMA)) throw new SchemaMismatch(found);
}
