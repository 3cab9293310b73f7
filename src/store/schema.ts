import { OperatorError } from '../runtime/operator-error.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** The schema of all stored data. `schema.test.ts` fails if a stored record changes and this number does not. */
export const SCHEMA = '8';

/** Writes the schema number if there is none yet. Throws `OperatorError` if the data have another one. */
export async function checkSchema(redis: RedisClient): Promise<void> {
  await redis.set(keys.schema(), SCHEMA, 'NX');
  const found = await redis.get(keys.schema());
  // If somebody empties Redis in between, there is no number, and nothing that has another schema.
  if (found !== null && found !== SCHEMA)
    throw new OperatorError(
      `These data have schema ${found}; this Docket reads ${SCHEMA}. Run the matching release, or empty the data (docs/upgrade.md).`,
    );
}
