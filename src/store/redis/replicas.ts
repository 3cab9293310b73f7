import type { RedisClient } from './client.ts';
import { primaryOf } from './client.ts';

/** How long a write waits for a replica. A longer wait would delay everything behind it. */
const COPY_MS = 300;

/** Maximum tries of a write whose connection ends before a replica has it. */
const MAX_WRITES = 3;

interface Connection {
  /** Whether a replica follows the primary. */
  hasReplica: boolean;
  /** Number of times the connection ended. */
  ended: number;
}

const connections = new WeakMap<RedisClient, Connection>();

/** Records INFO of a connection's primary. While a replica keeps up, writes wait for it. */
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
 * Makes a write, waits until a replica has it, and returns the write's answer. If the connection ends in between, the
 * new primary may not have the write, so it is repeated: it must be harmless twice. The wait for a slow replica ends
 * early; `min-replicas-to-write` then makes Redis refuse writes.
 */
export async function waitForReplica<T>(client: RedisClient, write: () => Promise<T>): Promise<T> {
  for (let made = 1; made <= MAX_WRITES; made += 1) {
    const endedBefore = connections.get(client)?.ended;
    const answer = await write();
    const connection = connections.get(client);
    if (!connection?.hasReplica) return answer;
    // A server that cannot wait is no longer the primary, or its connection has ended.
    await primaryOf(client)
      ?.wait(1, COPY_MS)
      .catch(() => {});
    if (connection.ended === (endedBefore ?? 0)) return answer;
  }
  throw new Error('connections to Redis keep ending before a replica has the write');
}
