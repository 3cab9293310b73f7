import { decodeCredential, type RedisUrl, readRedisUrl } from '../store/redis/address.ts';
import type { Env } from './file.ts';
import { isLoopback } from './values.ts';

/**
 * Returns the parts of an address with a password that no log may contain: the whole address, and the password as
 * written, as `URL` encodes it, and decoded. The address may be invalid.
 */
export function secretsInAddress(address: string): string[] {
  const user = address.slice(Math.max(0, address.indexOf('://') + 3), Math.max(0, address.lastIndexOf('@')));
  const colon = user.indexOf(':');
  if (colon < 0) return [];
  const password = user.slice(colon + 1);
  return [address, password, URL.parse(address)?.password ?? '', decodeCredential(password)].filter(Boolean);
}

export const isRedisAddress = /^rediss?(?:\+(?:sentinel|cluster))?:\/\//;

/** The form of the end of an address. ioredis would take database 0, which may be another Docket's, for another one. */
const PATHS: Record<RedisUrl['kind'], RegExp> = {
  server: /^\d{0,9}$/,
  sentinel: /^[\w.-]{1,100}(?:\/\d{0,9})?$/,
  // A number would be a database, and a cluster has one only.
  cluster: /^(?:[a-z][a-z0-9-]{0,39})?$/,
};

const WRONG_END =
  'REDIS_URL ends with something else than it needs. For one server, end it with nothing or the number of a database, ' +
  'such as /1; for sentinels, with the name of the primary, such as /mymaster or /mymaster/1; for a cluster, with nothing, ' +
  'or, if several Dockets share it, with a name of lower-case letters, digits and dashes, such as /staging.';

/** Returns the problems of the address of Redis, each with its fix and without any part of the address. */
export function redisProblems({ REDIS_URL: address, REDIS_ALLOW: allow = '' }: Env): string[] {
  if (address === undefined || !isRedisAddress.test(address)) return [];
  const url = readRedisUrl(address);
  if (url === undefined)
    return [
      'REDIS_URL is not a valid address. In its user and password, write %2F for /, %23 for #, %3F for ? and ' +
        '%40 for @; the rest is such as rediss://user:password@redis.example.com:6379/0, or for several hosts ' +
        'rediss+sentinel://host1:26379,host2/name or rediss+cluster://host1:6379,host2.',
    ];
  const problems: string[] = [];
  const isHere = url.nodes.every(({ host }) => isLoopback(host.includes(':') ? `[${host}]` : host));
  const [scheme = ''] = address.split('://', 1);
  if (!isHere && !url.tls && !allow.includes('plaintext'))
    problems.push(
      `REDIS_URL begins with ${scheme}:// and names another machine: all data of Docket would cross the network in ` +
        `the clear. Use ${scheme.replace('redis', 'rediss')}://, or set REDIS_ALLOW=plaintext if you trust that network.`,
    );
  if (!PATHS[url.kind].test(url.path)) problems.push(WRONG_END);
  return problems;
}
