import type { Permission } from '../../permissions.ts';
import { Later } from '../../runtime/later.ts';
import type { JobContext } from './context.ts';
import { lookupRetryMs } from './polling.ts';

type Verdict = Exclude<Awaited<ReturnType<JobContext['policy']['check']>>, { kind: 'unknown' }>;

/** Throws `Later` until this time, in epoch milliseconds. */
export function awaitTime(atMs: number, { now }: Pick<JobContext, 'now'>): void {
  if (now() < atMs) throw new Later(atMs - now());
}

/** Returns whether this person has a permission now. Throws `Later` while Slack does not say who that is. */
export async function permitted(
  userId: string,
  permission: Permission,
  context: Pick<JobContext, 'policy' | 'timing' | 'random'>,
  options?: Parameters<JobContext['policy']['check']>[2],
): Promise<Verdict> {
  const verdict = await context.policy.check(userId, permission, options);
  if (verdict.kind === 'unknown') throw new Later(lookupRetryMs(context));
  return verdict;
}
