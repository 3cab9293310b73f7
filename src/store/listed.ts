import type { Redis } from 'ioredis';

/** A span of time in epoch milliseconds, both ends included. */
export interface Span {
  fromMs: number;
  toMs: number;
}

/** The members of a sorted set that is scored by time, oldest first; without those that came in the span. */
export async function listed(redis: Redis, key: string, except?: Span): Promise<string[]> {
  if (except === undefined) return redis.zrange(key, '0', '-1');
  const [before, after] = await Promise.all([
    redis.zrange(key, '-inf', `(${except.fromMs}`, 'BYSCORE'),
    redis.zrange(key, `(${except.toMs}`, '+inf', 'BYSCORE'),
  ]);
  return [...before, ...after];
}
