import type { Redis } from 'ioredis';
import { keys } from '../keys.ts';

/** What Docket and BullMQ use on every connection, by the least number of arguments: 0, 1, and so on. */
const USED = [
  'info ping time',
  'client|setname del exists get hgetall hkeys hlen hvals incr llen lpop mget persist pttl rpop scard select smembers ' +
    'spop type unlink xlen zcard zpopmin',
  'bzpopmin copy eval evalsha hdel hexists hget hmget hscan incrby lindex lpos lpush pexpire pexpireat rename rpoplpush ' +
    'rpush sadd set sismember srem wait xdel zrank zrem zscore',
  'hincrby hmset hset hsetnx lrange lrem lset ltrim xrange xrevrange xtrim zadd zcount zlexcount zrange zrangebylex ' +
    'zrangebyscore zremrangebyrank zremrangebyscore zrevrange zrevrangebyscore',
  'xadd',
].map((names) => names.split(' '));

/**
 * Returns what the user of this connection may not do: names of commands, and `keys` for Docket's keys. It changes nothing:
 * each command is queued in a transaction that is discarded, and Redis checks rights before it queues. The connection
 * has to be closed afterwards, since without the right to discard, the transaction stays open.
 */
export async function missingRights(redis: Redis): Promise<string[]> {
  const missing = new Set<string>();
  const isTaken = (name: string, count = 0) => {
    const [command = '', ...part] = name.split('|');
    return redis.call(command, ...part, ...Array<string>(count).fill(keys.probe())).then(
      () => true,
      ({ message }: Error) => {
        if (message.includes('NOPERM')) missing.add(/\bkeys?\b/.test(message) ? 'keys' : name);
        return false;
      },
    );
  };
  // Without a transaction, Redis would execute the commands.
  if (!(await isTaken('multi'))) return [...missing];
  await Promise.all(USED.flatMap((names, count) => names.map((name) => isTaken(name, count))));
  if (await isTaken('discard')) for (const name of ['multi', 'exec']) await isTaken(name);
  return [...missing];
}
