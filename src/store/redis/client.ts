import type { Cluster, Redis } from 'ioredis';

/** A connection to one Redis, be it found through Sentinel, or to a cluster. */
export type RedisClient = Redis | Cluster;
