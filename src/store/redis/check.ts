import { withTimeout } from '../../runtime/with-timeout.ts';
import type { RedisAddress } from './address.ts';
import { infoFields, primaryOf } from './client.ts';
import { ANSWER_MS, connectForCheck } from './connections.ts';
import { problemOfError, problemsOf, type RedisProblem } from './problems.ts';

/** The result of a check. The version is missing if Redis does not answer. */
export interface CheckedRedis {
  problems: RedisProblem[];
  version?: string | undefined;
}

/** Checks Redis over a new connection, for the start and for the doctor. Never rejects, and writes nothing. */
export async function checkRedis(address: RedisAddress): Promise<CheckedRedis> {
  const errors: unknown[] = [];
  const client = connectForCheck(address, (error) => errors.push(error));
  try {
    await withTimeout(3 * ANSWER_MS, client.connect());
    const redis = primaryOf(client);
    if (redis === undefined) throw new Error("no node has Docket's keys");
    const info = infoFields(await withTimeout(ANSWER_MS, redis.info()));
    // A failed SELECT does not end the connection, which then continues in database 0.
    if (errors.length > 0) throw errors[0];
    return {
      problems: problemsOf(info, address),
      version: info.valkey_version ? `Valkey ${info.valkey_version}` : `Redis ${info.redis_version}`,
    };
  } catch (error) {
    return { problems: [problemOfError([...errors, error], address)] };
  } finally {
    client.disconnect();
  }
}
