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
});

/** Returns the part of that limit for collecting in the background. */
export const backgroundLimit = (budget: string, perHour: number): RateLimit => ({
  name: `analytics-background:${budget}`,
  count: Math.max(1, perHour - Math.min(KEPT_FOR_PEOPLE, Math.floor(perHour / 5))),
  windowMs: HOUR_MS,
});

/** Returns one person's part of that limit, for digests of any dates: enough for two, or a fifth if that is more. */
const personLimit = (teamId: string, userId: string, perHour: number): RateLimit => ({
  name: `analytics-person:${teamId}:${userId}`,
  count: Math.max(2 * KEPT_FOR_PEOPLE, Math.floor(perHour / 5)),
  windowMs: HOUR_MS,
});

export interface AnalyticsLimits {
  all: RateLimit;
  /** Limits of which a request needs a slot, in this order. */
  needed: RateLimit[];
}

/** Urgent requests may use the whole limit, each person a share of it. */
export function limitsOf(
  run: Pick<FiguresRun, 'teamId' | 'urgent' | 'by' | 'project'>,
  { keyId }: Pick<DocsApi, 'keyId'>,
  { limits, projects }: Pick<JobContext, 'limits' | 'projects'>,
): AnalyticsLimits {
  const perHour = limits.analyticsPerHour;
  const project = projects.find(({ name }) => name === run.project);
  const budget = analyticsBudget(project?.organization, keyId);
  const all = analyticsLimit(budget, perHour);
  if (!run.urgent) return { all, needed: [backgroundLimit(budget, perHour), all] };
  return { all, needed: run.by === undefined ? [all] : [personLimit(run.teamId, run.by, perHour), all] };
}
