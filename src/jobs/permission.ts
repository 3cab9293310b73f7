import type { PermissionResult } from '../policy.ts';
import type { JobContext } from './context.ts';

/**
 * Returns whether a person whom the check at `sinceMs` let export still may. After a long wait the permission may be
 * lost; before that, the first check holds.
 */
export async function recheckPermission(
  userId: string,
  sinceMs: number,
  { policy, now, timing }: Pick<JobContext, 'policy' | 'now' | 'timing'>,
): Promise<PermissionResult | { kind: 'allowed' }> {
  const isOld = now() - sinceMs > timing.permissionCacheMs;
  return isOld ? policy.check(userId, 'export') : { kind: 'allowed' };
}
