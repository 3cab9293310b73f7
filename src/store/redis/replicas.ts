import type { RedisClient } from './client.ts';
import { primaryOf } from './client.ts';

/** How long a write waits for a replica. A longer wait would hold up everything behind it. */
const COPY_MS = 300;

/** How often a write is made whose connection ends before a replica has it. */
const MAX_WRITES = 3;

interface Connection {
  /** Whether a replica follows the primary. */
  hasReplica: boolean;
  /** Counts the ends of the connection. */
  ended: number;
}

const connections = new WeakMap<RedisClient, Connection>();

/** Notes what INFO says of the primary that a connection leads to. While a replica keeps up, writes wait for it. */
export function noteReplicas(client: RedisClient, info: Record<string, string>) {
  const hasReplica = Object.values(info).some(
    (value) => value.includes(',state=online,') && /,lag=[0-3](?:,|$)/.test(value),
  );
  const known = connections.get(client);
  if (known !== undefined) {
    known.hasReplica = hasReplica;
    return;
  }
  const connection = { hasReplica, ended: 0 };
  connections.set(client, connection);
  const countEnd = () => {
    connection.ended += 1;
  };
  client.on('close', countEnd);
  // A cluster loses the connection to one node without closing.
  client.on('-node', countEnd);
}

/**
 * Makes a write, waits until a replica has it, and returns the write's answer. If the connection ends in between, the new
 * primary may not have it, and it is made again: it must be harmless twice. A slow replica is not waited for any longer;
 * `min-replicas-to-write` makes Redis refuse writes then.
 */
export async function waitForReplica<T>(client: RedisClient, write: () => Promise<T>): Promise<T> {
  for (let made = 1; made <= MAX_WRITES; made += 1) {
    const endedBefore = connections.get(client)?.ended;
    const answer = await write();
    const connection = connections.get(client);
    if (!connection?.hasReplica) return answer;
    // A server that cannot wait is no primary any more, or its connection has ended.
    await primaryOf(client)
      ?.wait(1, COPY_MS)
      .catch(() => {});
    if (connection.ended === (endedBefore ?? 0)) return answer;
  }
  throw new Error('connections to Redis keep ending before a replica has the write');
}
