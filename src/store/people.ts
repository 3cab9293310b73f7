import type { Redis } from 'ioredis';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';

/** The direct message conversations between the bot and people. */
export interface PeopleStore {
  directMessage(teamId: string, userId: string): Promise<string | undefined>;
  setDirectMessage(teamId: string, userId: string, channel: string): Promise<void>;
}

export function createPeopleStore(redis: Redis): PeopleStore {
  return {
    async directMessage(teamId, userId) {
      return (await redis.get(keys.directMessage(teamId, userId))) ?? undefined;
    },
    async setDirectMessage(teamId, userId, channel) {
      await redis.set(keys.directMessage(teamId, userId), channel, 'PX', retention.directMessageMs);
    },
  };
}
