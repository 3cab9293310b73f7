import { type Redis, ReplyError } from 'ioredis';
import { type RedisAddress, type RedisNode, replicaOf } from './address.ts';
import { askNode, type NodeServer } from './ask-node.ts';
import { findPrimaries } from './find-primary.ts';
import { infoFields } from './primary-connector.ts';

/** What INFO says of a server. Redis makes up another `run_id` whenever it starts. */
interface Identity {
  run_id?: string;
  role?: string;
}

/**
 * Returns whether another server has become the primary, so that this one must not be written to any more: one that froze
 * takes itself for the primary until it is told, which Sentinel does only after 8 s. Who can tell is asked: all sentinels
 * or nodes of the address, or what it leads to now, and the replicas that followed it, of which one was promoted up to a
 * second before anybody says so. False where nobody answers.
 */
export async function isReplaced(
  primary: Redis,
  address: RedisAddress,
  replicas: readonly RedisNode[],
): Promise<boolean> {
  const [own, named, followers] = await Promise.all([
    identify(primary),
    findPrimaries(address).then(identifyAll),
    identifyAll(replicas.map((place) => replicaOf(place, address))),
  ]);
  if (own.role === 'slave') return true;
  return [...named, ...followers].some(
    ({ run_id, role }) => role === 'master' && own.run_id !== undefined && run_id !== own.run_id,
  );
}

/** Nothing is known of servers that do not answer. */
const identifyAll = (servers: readonly NodeServer[]): Promise<Identity[]> =>
  Promise.all(servers.map((server) => askNode(server, identify).catch(() => ({}))));

/** Nothing is known where INFO is forbidden. */
async function identify(redis: Redis): Promise<Identity> {
  try {
    return infoFields(await redis.info());
  } catch (error) {
    if (error instanceof ReplyError) return {};
    throw error;
  }
}
