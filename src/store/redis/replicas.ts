import { type Redis, ReplyError } from 'ioredis';
import { within } from '../../runtime/within.ts';
import type { RedisNode } from './address.ts';
import type { RedisClient } from './client.ts';
import { primaryOf } from './primary-of.ts';

/** How long replicas may take to have what was written. A longer wait would hold up all that is behind it. */
const COPY_MS = 300;

/** Seconds since a replica last answered its primary, from which on nothing is waited for. */
const LATE_S = 3;

/**
 * Whether another server has become the primary instead of the one that is asked about, as `isReplaced` tells: one of
 * these replicas that followed it, or any other.
 */
export type IsReplaced = (primary: Redis, replicas: readonly RedisNode[]) => Promise<boolean>;

interface Copying {
  /** The replicas that followed the primary closely when most did, or when the primary was last asked. */
  replicas: readonly RedisNode[];
  /**
   * How many replicas have to have what is written. That is all that follow closely: any may be promoted, and while one
   * already is, others still follow the old primary.
   */
  needed: number;
  isReplaced: IsReplaced;
  /** How often in a row the connection has left a server that was replaced. */
  left: number;
  /** Counts the ends of the connection. */
  ended: number;
  current: Promise<boolean> | undefined;
  next: Promise<boolean> | undefined;
}

const connections = new WeakMap<RedisClient, Copying>();

/** Returns the replicas that follow closely, from the fields of INFO. */
export const closeReplicas = (info: Record<string, string>): RedisNode[] =>
  Object.entries(info).flatMap(([name, value]) => {
    const [, host = '', port, lag] =
      /^ip=([^,]*),port=(\d{1,9}),state=online,offset=\d{1,20},lag=(\d{1,9})/.exec(value) ?? [];
    const isClose = /^slave\d+$/.test(name) && lag !== undefined && Number(lag) <= LATE_S;
    return isClose ? [{ host, port: Number(port) }] : [];
  });

/** Notes what INFO said of the primary that a connection leads to: writes wait for its replicas from now on. */
export function noteReplicas(client: RedisClient, info: Record<string, string>, isReplaced: IsReplaced) {
  const replicas = closeReplicas(info);
  const needed = replicas.length;
  const known = connections.get(client);
  if (known !== undefined) {
    // That fewer follow may be since they follow another primary, or one of them is it: the next write asks.
    if (needed >= known.needed) Object.assign(known, { replicas, needed });
    return;
  }
  const state = { left: 0, ended: 0, current: undefined, next: undefined };
  const copying: Copying = { replicas, needed, isReplaced, ...state };
  connections.set(client, copying);
  const note = () => {
    copying.ended += 1;
  };
  client.on('close', note);
  // A cluster loses the connection to one node without losing itself.
  client.on('-node', note);
}

/** Runs that follow each other when connections keep ending, or keep leading to a server that is the primary no more. */
const MOST_RUNS = 10;

/**
 * Sentinels hear of a failover within 2 s. Who leads here for longer than this many waits for a copy is the primary,
 * whatever others say.
 */
const MOST_LEFT = 8;

/** A write found no primary that it could stay with, though connections were made. */
export class NoPrimary extends Error {
  override readonly name = 'NoPrimary';
  constructor() {
    super('connections to Redis keep ending, or lead to a server that is the primary no more');
  }
}

/**
 * Makes a write, and returns its answer once the replicas have it too, so that it outlives the primary. Where the primary
 * went before they had it, or was replaced, the write is made again: it has to be harmless twice. A replica that takes too
 * long is not waited for; the watch over Redis reports when none follows. Throws `NoPrimary`.
 */
export async function untilCopied<T>(client: RedisClient, write: () => Promise<T>): Promise<T> {
  for (let run = 1; run <= MOST_RUNS; run += 1) {
    const ended = connections.get(client)?.ended ?? 0;
    const answer = await write();
    const copying = connections.get(client);
    if (copying === undefined || copying.needed === 0) return answer;
    const counts = await share(client, copying);
    if (counts && copying.ended === ended) return answer;
  }
  throw new NoPrimary();
}

/** One question is under way at a time; who comes meanwhile shares the next, which covers all writes before it. */
function share(client: RedisClient, copying: Copying): Promise<boolean> {
  copying.next ??= (async () => {
    await copying.current?.catch(() => {});
    copying.current = copying.next;
    copying.next = undefined;
    return await ask(client, copying);
  })();
  return copying.next;
}

/** Returns whether what was written counts: all replicas have it, or those that do not are left behind by the primary. */
async function ask(client: RedisClient, copying: Copying): Promise<boolean> {
  const primary = primaryOf(client);
  if (primary === undefined) return false;
  try {
    return await confirm(primary, copying);
  } catch (error) {
    // A cluster connects to another node then; what waited for an answer of this one is rejected.
    if (primary.status !== 'ready') return false;
    throw error;
  }
}

async function confirm(primary: Redis, copying: Copying): Promise<boolean> {
  // Over the connection of the write, whose own last write it is about.
  const { needed, replicas } = copying;
  const copies = await primary.wait(needed, COPY_MS).catch((error: unknown) => {
    // Not allowed, unknown there, or a replica by now.
    if (error instanceof ReplyError) return 0;
    throw error;
  });
  if (copies < needed && copying.left < MOST_LEFT && (await copying.isReplaced(primary, replicas))) {
    copying.left += 1;
    await leave(primary);
    return false;
  }
  copying.left = 0;
  copying.needed = copies;
  return true;
}

/** How long a connection may take to close. ioredis destroys it after 2 s. */
const LEAVE_MS = 3000;

/** Ends a connection, so that the next one is made to who is the primary then. */
async function leave(primary: Redis) {
  const left = new Promise<void>((resolve) => primary.once('close', resolve));
  primary.disconnect(true);
  await within(LEAVE_MS, left).catch(() => {});
}
