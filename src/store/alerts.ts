import { z } from 'zod';
import { createChangeSaver } from '../runtime/change-saver.ts';
import { parseJson } from '../runtime/json.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Alerts that all processes together send at most once an hour. */
export type AlertStore = ReturnType<typeof createAlertStore>;

const alert = z.object({ sinceMs: z.number(), recipients: z.array(z.string()).optional() });

export function createAlertStore(redis: RedisClient) {
  return {
    /**
     * Begins an alert, unless it began within the hour. Returns when it began (epoch milliseconds), and to whom it was
     * sent (user ids), if it was.
     */
    async begin(name: string, nowMs: number): Promise<z.infer<typeof alert>> {
      const begun = { sinceMs: nowMs };
      await redis.set(keys.alert(name), JSON.stringify(begun), 'PX', retention.adminAlertMs, 'NX');
      return alert.safeParse(parseJson(await redis.get(keys.alert(name)))).data ?? begun;
    },
    /** Records that an alert was sent, for the rest of its hour. */
    async markSent(name: string, sinceMs: number, recipients: readonly string[]) {
      await redis.set(keys.alert(name), JSON.stringify({ sinceMs, recipients }), 'KEEPTTL', 'XX');
    },
  };
}

/** API keys that the platform rejects, by their ids, and since when (epoch milliseconds); shared by all processes. */
export type RejectedKeyStore = ReturnType<typeof createRejectedKeyStore>;

export function createRejectedKeyStore(redis: RedisClient) {
  return {
    /** Records that a key is rejected. Returns since when. */
    async reject(keyId: string, nowMs: number): Promise<number> {
      const key = keys.rejectedKey(keyId);
      await redis.set(key, nowMs, 'PX', retention.rejectedKeyMs, 'NX');
      await redis.pexpire(key, retention.rejectedKeyMs);
      return Number((await redis.get(key)) ?? nowMs);
    },
    /** Records that a key works. */
    async accept(keyId: string) {
      await redis.del(keys.rejectedKey(keyId));
    },
    /** Returns since when each of these is rejected; undefined for one that is not, as far as is known. */
    async since(keyIds: readonly string[]): Promise<(number | undefined)[]> {
      if (keyIds.length === 0) return [];
      const found = await redis.mget(keyIds.map(keys.rejectedKey));
      return found.map((ms) => (ms === null ? undefined : Number(ms)));
    },
  };
}

/**
 * An unchanged state is saved again at most this often: a rejected key must not expire in between, and the last state
 * from a crashed process must not stay for long.
 */
const REPEAT_MS = 3_600_000;

/** Returns a function that takes whether a call's key was accepted, and saves changes. */
export const createKeyWatch = (
  store: Pick<RejectedKeyStore, 'reject' | 'accept'>,
  now: () => number,
  onError: (error: Error) => void,
) =>
  createChangeSaver({
    ...{ everyMs: REPEAT_MS, now, onError },
    save: (keyId: string, accepted: boolean) => (accepted ? store.accept(keyId) : store.reject(keyId, now())),
  });
