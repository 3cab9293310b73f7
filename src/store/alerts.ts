import { z } from 'zod';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Alerts that are given once an hour at most, by all processes together. */
export type AlertStore = ReturnType<typeof createAlertStore>;

const userIds = z.array(z.string());

export function createAlertStore(redis: RedisClient) {
  return {
    /** Begins an alert, unless it was begun within the hour. Returns when it was begun (epoch milliseconds). */
    async begin(name: string, nowMs: number): Promise<number> {
      await redis.set(keys.alert(name), nowMs, 'PX', retention.adminAlertMs, 'NX');
      return Number((await redis.get(keys.alert(name))) ?? nowMs);
    },
    /** Keeps whom the alert is for (user ids), for the rest of its hour at most and `forMs`. */
    async setPeople(name: string, people: readonly string[], forMs: number) {
      const leftMs = await redis.pttl(keys.alert(name));
      // One that has expired is begun again, and its people are looked for again.
      if (leftMs <= 0) return;
      await redis.set(keys.alertPeople(name), JSON.stringify(people), 'PX', Math.min(leftMs, forMs));
    },
    /** Returns what `find` finds to wait when it is first called in the alert's hour; nothing where that fails. */
    async keepWaits(name: string, find: () => Promise<string>): Promise<string> {
      const key = keys.alertWaits(name);
      const kept = await redis.get(key);
      if (kept !== null) return kept;
      const found = await find().catch(() => '');
      const leftMs = await redis.pttl(keys.alert(name));
      if (leftMs <= 0) return found;
      await redis.set(key, found, 'PX', leftMs, 'NX');
      return (await redis.get(key)) ?? found;
    },
    /** Whom it is for; nothing when that is not known, or no longer. */
    async people(name: string): Promise<string[] | undefined> {
      const json = await redis.get(keys.alertPeople(name));
      return json === null ? undefined : userIds.parse(JSON.parse(json));
    },
  };
}
