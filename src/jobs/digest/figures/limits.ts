import type { DocsApi } from '../../../docs-api/client.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import type { FiguresRun } from './record.ts';

const HOUR_MS = 3_600_000;

/** Requests an hour that collecting for digests leaves to people who ask now. */
const KEPT_FOR_PEOPLE = 20;

/** Returns the limit of all analytics requests with one API key, which `keyId` names without giving it away. */
export const analyticsLimit = (keyId: string, perHour: number): RateLimit => ({
  name: `analytics:${keyId}`,
  count: perHour,
  windowMs: HOUR_MS,
});

/** Returns the part of that limit which collecting in the background may use. */
export const backgroundLimit = (keyId: string, perHour: number): RateLimit => ({
  name: `analytics-background:${keyId}`,
  count: Math.max(1, perHour - Math.min(KEPT_FOR_PEOPLE, Math.floor(perHour / 5))),
  windowMs: HOUR_MS,
});

/** Returns the part of that limit which one person may use for digests of any dates: two of them, or a fifth. */
const personLimit = (teamId: string, userId: string, perHour: number): RateLimit => ({
  name: `analytics-person:${teamId}:${userId}`,
  count: Math.max(2 * KEPT_FOR_PEOPLE, Math.floor(perHour / 5)),
  windowMs: HOUR_MS,
});

export interface AnalyticsLimits {
  all: RateLimit;
  /** Those that a request needs a slot of, one after the other. */
  needed: RateLimit[];
}

/** Urgent requests have the whole limit, each person a share of it. */
export function limitsOf(
  run: Pick<FiguresRun, 'teamId' | 'urgent' | 'by'>,
  { keyId }: Pick<DocsApi, 'keyId'>,
  { limits }: Pick<JobContext, 'limits'>,
): AnalyticsLimits {
  const perHour = limits.analyticsPerHour;
  const all = analyticsLimit(keyId, perHour);
  if (!run.urgent) return { all, needed: [backgroundLimit(keyId, perHour), all] };
  return { all, needed: run.by === undefined ? [all] : [personLimit(run.teamId, run.by, perHour), all] };
}
