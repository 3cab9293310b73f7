import type { Redis } from 'ioredis';
import { z } from 'zod';
import { keep } from '../runtime/timing.ts';
import { keys } from './keys.ts';

/** What a call to something outside came to. `answered`: at all, if only with a refusal. `atMs` is epoch. */
const seen = z.object({ answered: z.boolean(), atMs: z.number() });
export type Seen = z.infer<typeof seen>;

/** What Docket depends on and calls. */
export const outside = ['docs', 'slack'] as const;
export type Outside = (typeof outside)[number];

/** What the workers saw last, for processes that do not call themselves. It is forgotten after a while. */
export interface HealthStore {
  tell(part: Outside, seen: Seen): Promise<void>;
  told(): Promise<Partial<Record<Outside, Seen>>>;
}

export function createHealthStore(redis: Redis): HealthStore {
  return {
    async tell(part, what) {
      await redis.set(keys.health(part), JSON.stringify(what), 'PX', keep.healthMs);
    },
    async told() {
      const found = await redis.mget(outside.map(keys.health));
      return Object.fromEntries(
        outside.flatMap((part, index) => {
          const read = seen.safeParse(parseJson(found[index] ?? ''));
          return read.success ? [[part, read.data]] : [];
        }),
      );
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
