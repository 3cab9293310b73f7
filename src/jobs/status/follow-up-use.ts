import type { Project } from '../../projects.ts';
import type { RateLimit, RateLimitUsage } from '../../store/rate-limit.ts';
import { followUpLimit } from '../agent/thread/send-step.ts';
import type { FollowUpUsage } from './view.ts';

/** How much of each project's follow-ups is used. `readUsage` answers nothing when it cannot. */
export function loadFollowUpUsage(
  projects: readonly Project[],
  perHour: number,
  readUsage: (limit: RateLimit) => Promise<RateLimitUsage | undefined>,
): Promise<FollowUpUsage[]> {
  // Without an id a project has no agent.
  const withAgent = projects.filter(({ projectId }) => projectId !== undefined);
  return Promise.all(
    withAgent.map(async ({ name }) => ({
      project: name,
      perHour,
      use: await readUsage(followUpLimit(name, perHour)),
    })),
  );
}
