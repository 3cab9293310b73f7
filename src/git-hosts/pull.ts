import { z } from 'zod';

/** Names and logins are text from outside. */
export const outsideText = z.string().transform((text) => text.slice(0, 100));

/** A pull request as the list of its repository has it. Times are epoch milliseconds. */
export const pull = z.object({
  number: z.number(),
  state: z.enum(['open', 'merged', 'closed']),
  isDraft: z.boolean(),
  headSha: z.string(),
  /** Whose reviews do not count. */
  author: z.string().optional(),
  createdAtMs: z.number().optional(),
  updatedAtMs: z.number(),
  endedAtMs: z.number().optional(),
  /** Who merged it. GitHub's list does not say. */
  by: z.string().optional(),
});
export type Pull = z.infer<typeof pull>;

export const details = z.object({
  review: z.enum(['none', 'commented', 'approved', 'changesRequested']),
  checks: z.enum(['none', 'running', 'passed', 'failed']),
  /** Names of failed checks, once all have ended. */
  failed: z.array(z.string()),
});
export type Details = z.infer<typeof details>;

/** More names do not help. */
const MAX_FAILED = 20;

/** Returns what checks say together. */
export function checksOf(checks: readonly { name: string; state: 'running' | 'failed' | 'passed' }[]) {
  const has = (wanted: string) => checks.some(({ state }) => state === wanted);
  const all = (['running', 'failed', 'passed'] as const).find(has) ?? ('none' as const);
  const names = checks.flatMap(({ name, state }) => (state === 'failed' ? [name] : []));
  return { checks: all, failed: all === 'failed' ? [...new Set(names)].slice(0, MAX_FAILED) : [] };
}

/** Gets what stands below a repository; undefined for an answer of 403, if it may be forbidden. */
export type Read = <T>(
  path: string,
  schema: z.ZodType<T>,
  options?: { mayBeForbidden?: boolean },
) => Promise<T | undefined>;

/** What differs between the hosts. */
export interface HostCalls {
  headers(token: string): Record<string, string>;
  /** The path of a repository in the API, and a list of its pull requests, the last updated first. */
  pathOf(repository: string): string;
  list: { path: string; schema: z.ZodType<Pull[]> };
  /** The number of requests of `details`. */
  cost: number;
  read(get: Read, number: number): Promise<Pull | undefined>;
  details(get: Read, pull: Pull): Promise<Details>;
  /** The right that the token lacks after a 403. */
  rights: string;
}
