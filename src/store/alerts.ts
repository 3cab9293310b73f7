import type { Redis } from 'ioredis';
import { keep } from '../timing.ts';
import { keys } from './keys.ts';

/** Alerts that are given once an hour at most, by all processes together. */
export interface AlertStore {
  /** Begins an alert, unless it was begun within the hour; answers when that was (epoch milliseconds). */
  begin(name: string, nowMs: number): Promise<number>;
}

export function createAlertStore(redis: Redis): AlertStore {
  return {
    async begin(name, nowMs) {
      await redis.set(keys.alert(name), nowMs, 'PX', keep.keyAlertMs, 'NX');
      return Number((await redis.get(keys.alert(name))) ?? nowMs);
    },
  };
}
