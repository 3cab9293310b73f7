import { message } from '../../slack/blocks.ts';
import type { RedisProblem } from '../../store/redis/problems.ts';
import { type AdminAlertParts, createAdminAlert } from './admin-alert.ts';

export interface RedisAlertParts extends AdminAlertParts {
  /** Nothing until it is known. */
  teamId: () => string | undefined;
}

/** With these, Docket goes on, and nobody notices until work is gone. */
const alertedKinds: RedisProblem['kind'][] = ['eviction', 'volatile'];

/**
 * Returns a function that takes what is wrong with Redis now, and sends the admins a direct message of what loses work
 * without anybody noticing: once while it lasts.
 */
export function createRedisAlert({ teamId, ...parts }: RedisAlertParts) {
  const alertAdmins = createAdminAlert(parts);
  const sent = new Set<RedisProblem['kind']>();

  return async (problems: readonly RedisProblem[]): Promise<void> => {
    for (const kind of sent) if (!problems.some((problem) => problem.kind === kind)) sent.delete(kind);
    const team = teamId();
    if (team === undefined) return;
    for (const { kind, text } of problems) {
      if (!alertedKinds.includes(kind) || sent.has(kind)) continue;
      sent.add(kind);
      try {
        await alertAdmins(team, {
          name: `redis:${team}:${kind}`,
          messageKeyPrefix: `redis-${kind}`,
          message: message([[`⚠️ ${text}`], ['Until then I go on. I tell you once while it lasts.']]),
        });
      } catch (error) {
        sent.delete(kind);
        throw error;
      }
    }
  };
}
