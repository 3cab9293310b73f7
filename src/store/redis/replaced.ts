import { type Redis, ReplyError } from 'ioredis';
import { within } from '../../runtime/within.ts';
import type { RedisAddress } from './address.ts';
import { ANSWER_MS, askNode } from './ask-node.ts';
import { findPrimaries } from './find-primary.ts';
import { infoFields } from './primary-connector.ts';

/**
 * Returns whether another server has become the primary, so that this one must not be written to any more: one that froze
 * takes itself for the primary until it is told, which Sentinel does only after 8 s. Who can tell is asked: all sentinels
 * or nodes of the address, or what it leads to now. False where nobody answers. Rejects when the server does not answer.
 */
export async function isReplaced(primary: Redis, address: RedisAddress): Promise<boolean> {
  const [own, servers] = await Promise.all([identify(primary), findPrimaries(address)]);
  if (own.role === 'slave') return true;
  const others = await Promise.all(
    servers.map((server) => askNode(server, identify).catch(() => ({ runId: undefined, role: undefined }))),
  );
  return others.some(
    ({ runId, role }) =>
      role === 'master' && runId !== undefined && own.runId !== undefined && runId !== own.runId,
  );
}

/** Who a server is, as far as it may be asked. Redis makes up another `runId` whenever it starts. */
async function identify(redis: Redis): Promise<{ runId: string | undefined; role: string | undefined }> {
  try {
    const { run_id: runId, role } = infoFields(await within(ANSWER_MS, redis.info()));
    return { runId, role };
  } catch (error) {
    if (error instanceof ReplyError) return { runId: undefined, role: undefined };
    throw error;
  }
}
