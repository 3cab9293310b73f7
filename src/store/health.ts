import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';

/** What a call to something outside came to. `answered`: at all, if only with a refusal. `atMs` is epoch. */
const healthSnapshot = z.object({ answered: z.boolean(), atMs: z.number() });
export type HealthSnapshot = z.infer<typeof healthSnapshot>;

/** What Docket depends on and calls. */
export const dependencies = ['docs', 'slack'] as const;
export type Dependency = (typeof dependencies)[number];

/** Each worker's latest snapshots, for processes that make no calls themselves. They expire after a while. */
export interface HealthStore {
  save(part: Dependency, snapshot: HealthSnapshot): Promise<void>;
  load(): Promise<Partial<Record<Dependency, HealthSnapshot>>>;
}

export function createHealthStore(redis: Redis): HealthStore {
  return {
    async save(part, snapshot) {
      await redis.set(keys.health(part), JSON.stringify(snapshot), 'PX', retention.healthMs);
    },
    async load() {
      const found = await redis.mget(dependencies.map(keys.health));
      return Object.fromEntries(
        dependencies.flatMap((part, index) => {
          const read = healthSnapshot.safeParse(parseJson(found[index]));
          return read.success ? [[part, read.data]] : [];
        }),
      );
    },
  };
}
