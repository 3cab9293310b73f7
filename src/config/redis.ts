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

/** The form of the end of an address, and the problem of another one. */
const PATHS: Record<RedisUrl['kind'], [form: RegExp, problem: string]> = {
  // ioredis would take database 0, which may be another Docket's.
  server: [
    /^\d{0,9}$/,
    'REDIS_URL does not end with a database number. End it with a number, such as /1, or with nothing for 0.',
  ],
  sentinel: [
    /^[\w.-]{1,100}(?:\/\d{0,9})?$/,
    'REDIS_URL does not name the primary that the sentinels monitor. End it with its name, and with a number ' +
      'if the database is not 0, such as /mymaster or /mymaster/1.',
  ],
  // A number would be a database.
  cluster: [
    /^(?:[a-z][a-z0-9-]{0,39})?$/,
    'REDIS_URL ends with a name that cannot be used. A cluster has one database only: end the address with nothing, ' +
      'or, if several Dockets share the cluster, with a name of lower-case letters, digits and dashes, such as /staging.',
  ],
};

/**
 * Returns the problems of the address of Redis, each with its fix and without any part of the address. The schema of the
 * setting reports an unknown scheme.
 */
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
  const [form, problem] = PATHS[url.kind];
  if (!form.test(url.path)) problems.push(problem);
  return problems;
}
