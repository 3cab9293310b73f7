import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** The result of a call to something outside. */
const healthSnapshot = z.object({
  /** Any answer, even a refusal, unless Slack `refused` the token. */
  answered: z.boolean(),
  atMs: z.number(),
  refused: z.literal(true).optional(),
  /** Problems with these calls for an operator. */
  problems: z.array(z.string()).optional(),
});
export type HealthSnapshot = z.infer<typeof healthSnapshot>;

/** The services that Docket depends on. */
export const dependencies = ['docs', 'slack'] as const;
export type Dependency = (typeof dependencies)[number];

/** The latest snapshots of all processes, for processes that made no calls themselves. They expire after a while. */
export type HealthStore = ReturnType<typeof createHealthStore>;

export function createHealthStore(redis: RedisClient) {
  return {
    async save(part: Dependency, snapshot: HealthSnapshot) {
      await redis.set(keys.health(part), JSON.stringify(snapshot), 'PX', retention.healthMs);
    },
    async load(): Promise<Partial<Record<Dependency, HealthSnapshot>>> {
      const found = await redis.mget(dependencies.map(keys.health));
      return Object.fromEntries(
        dependencies.flatMap((part, index) => {
          const { data } = healthSnapshot.safeParse(parseJson(found[index]));
          return data ? [[part, data]] : [];
        }),
      );
    },
  };
}
