import type { z } from 'zod';
import { checkArguments } from './arguments.ts';
import type { Inside } from './inside.ts';
import type { Tier } from './rate-limits.ts';

/** A Web API method, ready to be called with whatever arguments arrived. */
export interface Method {
  tier: Tier;
  /** Any one of these; none needed when empty. Methods that need more look themselves. */
  scopes: string[];
  /** Which channel's posting limit the call counts for. */
  postsTo?(args: Record<string, unknown>): string | undefined;
  call(inside: Inside, args: Record<string, unknown>): Record<string, unknown>;
}

/** Describes one method: its limits, its arguments and what it does. `run` throws `Refused`. */
export function defineMethod<T>(parts: {
  tier: Tier;
  scopes?: string[];
  args: z.ZodType<T>;
  postsTo?: (args: Record<string, unknown>) => string | undefined;
  run(inside: Inside, args: T): Record<string, unknown>;
}): Method {
  return {
    tier: parts.tier,
    scopes: parts.scopes ?? [],
    ...(parts.postsTo && { postsTo: parts.postsTo }),
    call: (inside, args) => parts.run(inside, checkArguments(parts.args, args)),
  };
}
