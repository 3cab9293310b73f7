import { within } from '../../runtime/within.ts';
import type { RedisAddress } from './address.ts';
import { infoFields, primaryOf } from './client.ts';
import { ANSWER_MS, connectForCheck } from './connections.ts';
import { problemOfError, problemsOf, type RedisProblem } from './problems.ts';

/** What a check found. The fields are missing when Redis does not answer. */
export interface CheckedRedis {
  problems: RedisProblem[];
  version?: string | undefined;
  /** How many replicas follow the primary. */
  replicas?: number;
  latencyMs?: number;
}

/** Checks Redis over a new connection, for the start and for the doctor. Never rejects, and writes nothing. */
export async function checkRedis(address: RedisAddress): Promise<CheckedRedis> {
  const errors: unknown[] = [];
  const client = connectForCheck(address, (error) => errors.push(error));
  try {
    await within(3 * ANSWER_MS, client.connect());
    const redis = primaryOf(client);
    if (redis === undefined) throw new Error("no node has Docket's keys");
    const info = infoFields(await within(ANSWER_MS, redis.info()));
    // SELECT fails beside the connection, which then goes on in database 0.
    if (errors.length > 0) throw errors[0];
    const askedMs = performance.now();
    await within(ANSWER_MS, redis.ping());
    return {
      problems: problemsOf(info, address),
      version: info.valkey_version ?? info.redis_version,
      replicas: Number(info.connected_slaves ?? 0),
      latencyMs: performance.now() - askedMs,
    };
  } catch (error) {
    return { problems: [problemOfError([...errors, error], address)] };
  } finally {
    client.disconnect();
  }
}
