import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** The place of a thread: the conversation, and its root message. */
export interface ThreadPlace {
  teamId: string;
  channel: string;
  rootTs: string;
}

/**
 * Maximum threads kept for one conversation, by the latest messages. People may reply to a message as long as it
 * exists, so these do not expire: a member takes less than 100 bytes, and a weekly digest adds 52 a year.
 */
const MAX_OF_CHANNEL = 10_000;

/** Threads for people only: nothing there instructs the agent, and no job can be followed there. */
export const createClosedThreads = (redis: RedisClient) => ({
  /** Safe to repeat. */
  async close({ teamId, channel, rootTs }: ThreadPlace) {
    const key = keys.closedThreads(teamId, channel);
    await redis
      .multi()
      .zadd(key, Number(rootTs), rootTs)
      .zremrangebyrank(key, 0, -1 - MAX_OF_CHANNEL)
      .exec();
  },
  isClosed: async ({ teamId, channel, rootTs }: ThreadPlace): Promise<boolean> =>
    (await redis.zscore(keys.closedThreads(teamId, channel), rootTs)) !== null,
});
