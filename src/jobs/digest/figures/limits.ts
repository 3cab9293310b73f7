import type { DocsApi } from '../../../docs-api/client.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import type { FiguresRun } from './record.ts';

const HOUR_MS = 3_600_000;

/** Requests per hour reserved for people, which digests in the background leave free. */
const KEPT_FOR_PEOPLE = 20;

/**
 * Returns the name of the budget for analytics requests. The platform counts them per organization; if the settings
 * name none, the API key stands for it. `keyId` identifies the key without revealing it.
 */
export const analyticsBudget = (organization: string | undefined, keyId: string): string =>
  organization === undefined ? keyId : `organization:${organization}`;

/** Returns the limit of all analytics requests from one budget. */
export const analyticsLimit = (budget: string, perHour: number): RateLimit => ({
  name: `analytics:${budget}`,
  count: perHour,
  windowMs: HOUR_MS,
  perId: true,
});

/** Returns the part of that limit for collecting in the background. */
export const backgroundLimit = (budget: string, perHour: number): RateLimit => ({
  name: `analytics-background:${budget}`,
  count: Math.max(1, perHour - Math.min(KEPT_FOR_PEOPLE, Math.floor(perHour / 5))),
  windowMs: HOUR_MS,
  perId: true,
});

/** `all`, and those of which a request needs a slot, in this order. */
export interface AnalyticsLimits {
  all: RateLimit;
  needed: RateLimit[];
}

/** Returns the limits of a run's requests. Urgent ones may use the whole limit. */
export function limitsOf(
  run: Pick<FiguresRun, 'urgent' | 'project'>,
  { keyId }: Pick<DocsApi, 'keyId'>,
  { limits, projects }: Pick<JobContext, 'limits' | 'projects'>,
): AnalyticsLimits {
  const perHour = limits.analyticsPerHour;
  const project = projects.find(({ name }) => name === run.project);
  const budget = analyticsBudget(project?.organization, keyId);
  const all = analyticsLimit(budget, perHour);
  return { all, needed: run.urgent ? [all] : [backgroundLimit(budget, perHour), all] };
}
