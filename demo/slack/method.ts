import type { z } from 'zod';
import { checkArguments } from './arguments.ts';
import type { Inside } from './inside.ts';
import type { Tier } from './rate-limits.ts';

/** A Web API method, ready to be called with whatever arguments arrived. */
export interface Method {
  tier: Tier;
  /** Any one of these; none needed when empty. Methods that need more look themselves. */
  scopes: string[];
  /** The kind of token it takes; the bot's when left out. */
  token?: 'app';
  /** Which channel's posting limit the call counts for. */
  postsTo?(args: Record<string, unknown>): string | undefined;
  call(inside: Inside, args: Record<string, unknown>, url: string): Record<string, unknown>;
}

/** Describes one method: its limits, its arguments and what it does. `run` throws `Refused`. */
export function defineMethod<T>(parts: {
  tier: Tier;
  scopes?: string[];
  token?: 'app';
  args: z.ZodType<T>;
  postsTo?: (args: Record<string, unknown>) => string | undefined;
  /** `url` is the address that was called. */
  run(inside: Inside, args: T, url: string): Record<string, unknown>;
}): Method {
  return {
    tier: parts.tier,
    scopes: parts.scopes ?? [],
    ...(parts.token && { token: parts.token }),
    ...(parts.postsTo && { postsTo: parts.postsTo }),
    call: (inside, args, url) => parts.run(inside, checkArguments(parts.args, args), url),
  };
}
