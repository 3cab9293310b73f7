import type { Project } from '../../projects.ts';
import type { Budget, BudgetStore } from '../../store/budget.ts';
import { followUpBudget } from '../agent/thread/send-step.ts';
import type { FollowUpUse } from './view.ts';

/** How much of each project's follow-ups is used. `use` reads a budget; nothing when it cannot. */
export function followUpUses(
  projects: readonly Project[],
  perHour: number,
  use: (budget: Budget) => Promise<Awaited<ReturnType<BudgetStore['use']>> | undefined>,
): Promise<FollowUpUse[]> {
  // Without an id a project has no agent.
  const able = projects.filter(({ projectId }) => projectId !== undefined);
  return Promise.all(
    able.map(async ({ name }) => ({
      project: name,
      perHour,
      use: await use(followUpBudget(name, perHour)),
    })),
  );
}
