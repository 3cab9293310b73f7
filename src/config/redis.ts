import { isLoopback } from '../docs-api/settings.ts';
import {
  decodeCredential,
  type GroupAddress,
  isGroupAddress,
  isTagName,
  readGroupAddress,
  readSentinelPath,
} from '../store/redis/address.ts';
import type { Env } from './file.ts';

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

/** Returns whether the user or password has an unescaped `/`, `?` or `#`: then the `@` comes after the host. */
const isUnescaped = ({ pathname, search, hash }: URL) => `${pathname}${search}${hash}`.includes('@');

/** Returns the problems of the address of Redis, each with its fix and without any part of the address. */
export function redisProblems(env: Env): string[] {
  const { REDIS_URL: address = '' } = env;
  return isGroupAddress(address) ? groupProblems(address, env) : addressProblems(env);
}

function addressProblems({ REDIS_URL: address, REDIS_ALLOW: allow = '' }: Env): string[] {
  const problems: string[] = [];
  const url = address === undefined ? null : URL.parse(address);
  if (address !== undefined && isRedisAddress.test(address) && (url === null || isUnescaped(url)))
    return [
      'REDIS_URL is not a valid address. In its user and password, write %2F for /, %23 for #, %3F for ? and ' +
        '%40 for @; the rest is such as rediss://user:password@redis.example.com:6379/0.',
    ];
  if (url?.protocol === 'redis:' && !isLoopback(url.hostname || 'localhost') && !allow.includes('plaintext'))
    problems.push(plaintextProblem('redis'));
  // ioredis would take database 0, which may be another Docket's.
  if (url && !/^\/?\d{0,9}$/.test(url.pathname))
    problems.push(
      'REDIS_URL does not end with a database number. End it with a number, such as /1, or with nothing for 0.',
    );
  return problems;
}

const plaintextProblem = (scheme: string) =>
  `REDIS_URL begins with ${scheme}:// and names another machine: all data of Docket would cross the network in ` +
  `the clear. Use ${scheme.replace('redis', 'rediss')}://, or set REDIS_ALLOW=plaintext if you trust that network.`;

function groupProblems(address: string, { REDIS_ALLOW: allow = '' }: Env): string[] {
  const group = readGroupAddress(address);
  if (group === undefined)
    return [
      'REDIS_URL is not a valid address of several hosts. Write it as ' +
        'rediss+sentinel://user:password@host1:26379,host2,host3/name or rediss+cluster://user:password@host1:6379,host2; ' +
        'in its user and password, write %2F for /, %23 for #, %3F for ? and %40 for @.',
    ];
  const isAway = !group.nodes.every(({ host }) => isLoopback(host.includes(':') ? `[${host}]` : host));
  return [
    ...(isAway && !group.tls && !allow.includes('plaintext')
      ? [plaintextProblem(`redis+${group.kind}`)]
      : []),
    ...pathProblems(group),
  ];
}

function pathProblems({ kind, path }: GroupAddress): string[] {
  if (kind === 'sentinel' && readSentinelPath(path) === undefined)
    return [
      'REDIS_URL does not name the primary that the sentinels monitor. End it with its name, and with a number ' +
        'if the database is not 0, such as /mymaster or /mymaster/1.',
    ];
  if (kind === 'cluster' && !isTagName(path))
    return [
      'REDIS_URL ends with a name that cannot be used. A cluster has one database only: end the address with nothing, ' +
        'or, if several Dockets share the cluster, with a name of lower-case letters, digits and dashes, such as /staging.',
    ];
  return [];
}
