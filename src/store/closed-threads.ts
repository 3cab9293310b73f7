import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Where a thread is: the conversation, and the message that it is under. */
export interface ThreadPlace {
  teamId: string;
  channel: string;
  rootTs: string;
}

/**
 * Threads of one conversation that are remembered, the latest messages first. People may reply to a message for as long
 * as it is there, so these have no time to live: a member takes less than 100 bytes, and a weekly digest adds 52 a year.
 */
const MAX_OF_CHANNEL = 10_000;

/** Threads where people may talk: nothing that they write there instructs the agent, and no job can be followed there. */
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
