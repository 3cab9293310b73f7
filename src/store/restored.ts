import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { askTime } from './redis/clock.ts';

const mark = z.object({ takenAtMs: z.number(), restoredAtMs: z.number() });

/** A backup was put back: what was done from `takenAtMs` to `restoredAtMs` is not in the data. By Redis' clock. */
export type RestoredMark = z.infer<typeof mark>;

export type RestoredStore = ReturnType<typeof createRestoredStore>;

export function createRestoredStore(redis: RedisClient) {
  let known: Promise<RestoredMark | undefined> | undefined;

  async function read(): Promise<RestoredMark | undefined> {
    return mark.safeParse(parseJson((await redis.get(keys.restored())) ?? 'null')).data;
  }

  return {
    /** Marks the data as older than what was done. Kept for as long as a run that is older than the mark may be. */
    async mark(takenAtMs: number): Promise<RestoredMark> {
      const written: RestoredMark = { takenAtMs, restoredAtMs: await askTime(redis) };
      await redis.set(keys.restored(), JSON.stringify(written), 'PX', retention.runMs);
      return written;
    },
    /** Returns the mark. It is read once: it is set while no Docket runs. */
    load(): Promise<RestoredMark | undefined> {
      known ??= read().catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      return known;
    },
  };
}
