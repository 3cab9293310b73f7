import type { PermissionResult } from '../policy.ts';
import type { JobContext } from './context.ts';

/**
 * Returns whether somebody may still export who was let at `sinceMs`. Whoever has waited for long may have lost the
 * permission; before that, the check of the request holds.
 */
export async function recheckPermission(
  userId: string,
  sinceMs: number,
  { policy, now, timing }: Pick<JobContext, 'policy' | 'now' | 'timing'>,
): Promise<PermissionResult | { kind: 'allowed' }> {
  const isOld = now() - sinceMs > timing.permissionCacheMs;
  return isOld ? policy.check(userId, 'export') : { kind: 'allowed' };
}
