import { z } from 'zod';

/** Why calls of the platform give nothing, while it lasts. */
export const trouble = z.object({
  kind: z.enum(['down', 'limit', 'key', 'forbidden', 'project', 'lost']),
  /** Failures of this kind in a row. */
  inARow: z.number().int(),
  /** When it is tried again; epoch milliseconds. */
  nextMs: z.number(),
});
export type Trouble = z.infer<typeof trouble>;
