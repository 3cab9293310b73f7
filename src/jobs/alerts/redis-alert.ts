import { layout, type Message, type Part } from '../../slack/blocks.ts';
import type { RedisProblem } from '../../store/redis/problems.ts';
import { type AdminAlertParts, createAdminAlert } from './admin-alert.ts';

export interface RedisAlertParts extends AdminAlertParts {
  /** Nothing until it is known. */
  teamId: () => string | undefined;
  /** Returns what is at work now, such as "3 exports and 1 digest"; empty for nothing. */
  atWork: (teamId: string) => Promise<string>;
}

/** With these, Docket goes on, and nobody notices until work is gone. */
const alertedKinds: RedisProblem['kind'][] = ['eviction', 'volatile'];

/**
 * Returns a function that takes what is wrong with Redis now, and sends the admins a direct message of what loses work
 * without anybody noticing: once while it lasts.
 */
export function createRedisAlert({ teamId, atWork, ...parts }: RedisAlertParts) {
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
          waits: () => atWork(team),
          message: (work, sinceMs) => redisAlertMessage(text, work, sinceMs),
        });
      } catch (error) {
        sent.delete(kind);
        throw error;
      }
    }
  };
}

/** What is wrong, with the fix; since when, and what may be lost, as far as that is known. */
function redisAlertMessage(problem: string, atWork: string, sinceMs: number): Message {
  const stake = atWork === '' ? '' : `Running now, and could be lost: ${atWork}.`;
  const since: Part[] = ['Since ', { time: sinceMs, format: '{date_short_pretty} {time}' }, '.'];
  return layout({
    lines: [[`⚠️ ${problem}`], [...since, stake && ` ${stake}`]],
    small: [["I keep running. I won't repeat this while the problem lasts."]],
    text: stake === '' ? [[problem]] : [[problem], [stake]],
  });
}
