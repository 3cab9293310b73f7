import type { Project } from '../../projects.ts';
import type { HourlyLimit, HourlyLimitStore } from '../../store/budget.ts';
import { followUpBudget } from '../agent/thread/send-step.ts';
import type { FollowUpUsage } from './view.ts';

/** How much of each project's follow-ups is used. `use` reads a budget; nothing when it cannot. */
export function loadFollowUpUsage(
  projects: readonly Project[],
  perHour: number,
  readUsage: (budget: HourlyLimit) => Promise<Awaited<ReturnType<HourlyLimitStore['usage']>> | undefined>,
): Promise<FollowUpUsage[]> {
  // Without an id a project has no agent.
  const withAgent = projects.filter(({ projectId }) => projectId !== undefined);
  return Promise.all(
    withAgent.map(async ({ name }) => ({
      project: name,
      perHour,
      use: await readUsage(followUpBudget(name, perHour)),
    })),
  );
}
