import type { PermissionResult, Policy } from '../policy.ts';
import type { Timing } from '../runtime/timing.ts';

/**
 * Returns whether somebody may still export who was let at `sinceMs`. Whoever has waited for long may have lost the
 * permission; before that, the check of the request holds.
 */
export async function recheckPermission(
  userId: string,
  sinceMs: number,
  parts: {
    policy: Pick<Policy, 'check'>;
    now: () => number;
    timing: Pick<Timing, 'permissionCacheMs'>;
  },
): Promise<PermissionResult | { kind: 'allowed' }> {
  const isOld = parts.now() - sinceMs > parts.timing.permissionCacheMs;
  return isOld ? parts.policy.check(userId, 'export') : { kind: 'allowed' };
}
