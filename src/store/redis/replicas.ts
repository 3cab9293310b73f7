import { ReplyError } from 'ioredis';
import type { RedisClient } from './client.ts';
import { primaryOf } from './primary-of.ts';

/** How long a replica may take to have what was written. A longer wait would hold up all that is behind it. */
const COPY_MS = 300;

/** Seconds since a replica last answered its primary, from which on nothing is waited for. */
const LATE_S = 3;

interface Copying {
  /** Whether a replica follows the primary closely, as was last seen. */
  follows: boolean;
  /** Counts the ends of the connection. */
  ended: number;
  current: Promise<void> | undefined;
  next: Promise<void> | undefined;
}

const connections = new WeakMap<RedisClient, Copying>();

/** Returns how many replicas follow closely, from the fields of INFO. */
export const countReplicas = (info: Record<string, string>): number =>
  Object.entries(info).filter(([name, value]) => {
    const lag = /^ip=[^,]*,port=\d{1,9},state=online,offset=\d{1,20},lag=(\d{1,9})/.exec(value)?.[1];
    return /^slave\d+$/.test(name) && lag !== undefined && Number(lag) <= LATE_S;
  }).length;

/** Notes what INFO said of the primary that a connection leads to: with a replica, writes wait for it from now on. */
export function noteReplicas(client: RedisClient, info: Record<string, string>) {
  const known = connections.get(client);
  const follows = countReplicas(info) > 0;
  if (known !== undefined) {
    known.follows = follows;
    return;
  }
  const copying: Copying = { follows, ended: 0, current: undefined, next: undefined };
  connections.set(client, copying);
  const note = () => {
    copying.ended += 1;
  };
  client.on('close', note);
  // A cluster loses the connection to one node without losing itself.
  client.on('-node', note);
}

/** Runs that follow each other when connections keep ending. */
const MOST_RUNS = 3;

/**
 * Makes a write, and returns its answer once a replica has it too, so that it outlives the primary. Where the primary
 * went before one had it, the write is made again: it has to be harmless twice. Where no replica follows, or it takes
 * too long, the answer is returned without; the watch over Redis reports that.
 */
export async function untilCopied<T>(client: RedisClient, write: () => Promise<T>): Promise<T> {
  for (let run = 1; ; run += 1) {
    const ended = connections.get(client)?.ended;
    const answer = await write();
    const copying = connections.get(client);
    if (copying === undefined || !copying.follows) return answer;
    await share(client, copying);
    if (copying.ended === (ended ?? 0) || run === MOST_RUNS) return answer;
  }
}

/** One question is under way at a time; who comes meanwhile shares the next, which covers all writes before it. */
function share(client: RedisClient, copying: Copying): Promise<void> {
  copying.next ??= (async () => {
    await copying.current?.catch(() => {});
    copying.current = copying.next;
    copying.next = undefined;
    await ask(client, copying);
  })();
  return copying.next;
}

async function ask(client: RedisClient, copying: Copying) {
  try {
    // Over the connection of the write, whose own last write it is about.
    if ((await primaryOf(client)?.wait(1, COPY_MS)) === 0) copying.follows = false;
  } catch (error) {
    // Not allowed, or unknown there.
    if (!(error instanceof ReplyError)) throw error;
    copying.follows = false;
  }
}
