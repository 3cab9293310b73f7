import { z } from 'zod';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Alerts that all processes together send at most once an hour. */
export type AlertStore = ReturnType<typeof createAlertStore>;

const userIds = z.array(z.string());

export function createAlertStore(redis: RedisClient) {
  return {
    /** Begins an alert, unless it began within the hour. Returns when it began (epoch milliseconds). */
    async begin(name: string, nowMs: number): Promise<number> {
      await redis.set(keys.alert(name), nowMs, 'PX', retention.adminAlertMs, 'NX');
      return Number((await redis.get(keys.alert(name))) ?? nowMs);
    },
    /** Stores the alert's recipients (user ids), for the rest of its hour or `forMs`, whichever is shorter. */
    async setPeople(name: string, people: readonly string[], forMs: number) {
      const leftMs = await redis.pttl(keys.alert(name));
      // An expired alert begins again, with a new list of people.
      if (leftMs <= 0) return;
      await redis.set(keys.alertPeople(name), JSON.stringify(people), 'PX', Math.min(leftMs, forMs));
    },
    /** Returns the waiting work that the first call of `find` in the alert's hour returned; empty if it fails. */
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
    /** Returns its recipients; undefined if they are unknown or have expired. */
    async people(name: string): Promise<string[] | undefined> {
      const json = await redis.get(keys.alertPeople(name));
      return json === null ? undefined : userIds.parse(JSON.parse(json));
    },
  };
}
