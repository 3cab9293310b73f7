import type { Redis } from 'ioredis';
import { keys } from '../keys.ts';

/**
 * Commands that Docket and BullMQ make about Docket's keys, in scripts or without, and how many arguments each needs at
 * least. A test compares them with the scripts.
 */
const ABOUT_KEYS: Record<string, number> = {
  ...{
    bzpopmin: 2,
    copy: 2,
    del: 1,
    exists: 1,
    get: 1,
    hdel: 2,
    hexists: 2,
    hget: 2,
    hgetall: 1,
    hincrby: 3,
  },
  ...{
    hkeys: 1,
    hlen: 1,
    hmget: 2,
    hmset: 3,
    hscan: 2,
    hvals: 1,
    hset: 3,
    hsetnx: 3,
    incr: 1,
    incrby: 2,
    lindex: 2,
    llen: 1,
  },
  ...{ lpop: 1, lpos: 2, lpush: 2, lrange: 3, lrem: 3, lset: 3, ltrim: 3, mget: 1, persist: 1, pexpire: 2 },
  ...{
    pexpireat: 2,
    pttl: 1,
    rename: 2,
    rpop: 1,
    rpoplpush: 2,
    rpush: 2,
    sadd: 2,
    scard: 1,
    set: 2,
    sismember: 2,
  },
  ...{
    smembers: 1,
    spop: 1,
    srem: 2,
    type: 1,
    unlink: 1,
    xadd: 4,
    xdel: 2,
    xlen: 1,
    xrange: 3,
    xrevrange: 3,
  },
  ...{ xtrim: 3, zadd: 3, zcard: 1, zcount: 3, zlexcount: 3, zpopmin: 1, zrange: 3, zrangebylex: 3 },
  ...{ zrangebyscore: 3, zrank: 2, zrem: 2, zremrangebyrank: 3, zremrangebyscore: 3, zrevrange: 3 },
  ...{ zrevrangebyscore: 3, zscore: 2 },
};

/** Commands that Docket cannot do without, beside those about keys. */
const NEEDED = ['eval', 'evalsha', 'exec', 'multi', 'ping', 'time'];

/** Those that it goes on without, with a warning; and what asks a cluster for its nodes, and names connections. */
const USEFUL = [
  ...['client|setname', 'cluster|info', 'cluster|slots', 'config|get', 'discard', 'hello'],
  ...['info', 'select', 'wait'],
];

/** Every command that a user of Docket's needs, in alphabetical order. */
export const COMMANDS: readonly string[] = [...Object.keys(ABOUT_KEYS), ...NEEDED, ...USEFUL].sort();

/** Rights that a user lacks. */
export interface LackingRights {
  commands: string[];
  /** Whether it may not touch Docket's keys. */
  keys: boolean;
}

/**
 * Returns what the user of this connection may not do. Nothing is executed: between MULTI and DISCARD, Redis only says
 * whether it would.
 */
export async function findLackingRights(redis: Redis): Promise<LackingRights> {
  const lacking: LackingRights = { commands: [], keys: false };
  const ask = (command: string, ...args: string[]) =>
    redis.call(command, ...args).then(
      () => true,
      (error: unknown) => {
        const message = error instanceof Error ? error.message : '';
        if (message.startsWith('NOPERM') && /\baccess/.test(message)) lacking.keys = true;
        else if (message.startsWith('NOPERM')) lacking.commands.push(command);
        return false;
      },
    );
  // Without it, what follows would be executed.
  if (!(await ask('multi'))) return lacking;
  const key = keys.clock();
  await Promise.all([
    ...Object.entries(ABOUT_KEYS).map(([command, count]) => {
      const second = command === 'bzpopmin' ? '1' : key;
      return ask(command, ...[key, second, '1', '1'].slice(0, count));
    }),
    ...[
      ask('time'),
      ask('ping'),
      ask('eval', 'return 1', '1', key),
      ask('evalsha', '0'.repeat(40), '1', key),
    ],
    // Who may not say so ends it with the connection.
    ask('discard'),
  ]);
  return { ...lacking, commands: lacking.commands.filter((command) => !USEFUL.includes(command)) };
}
