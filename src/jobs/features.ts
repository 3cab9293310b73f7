import { workspaceLimits } from '../slack/rate-limits.ts';
import { limitNameOf, type RateLimit, type RateLimitUsage } from '../store/rate-limit.ts';
import type { RunBase } from '../store/runs.ts';
import { agentFeature } from './agent/feature.ts';
import { deploymentFeature } from './deployment/feature.ts';
import { digestFeature } from './digest/feature.ts';
import { exportFeature } from './export/feature.ts';
import { exportScheduleFeature } from './export-schedule/feature.ts';
import { pullRequestFeature } from './pull-request/feature.ts';
import type { Feature, LimitContext, WorkContext } from './shared/feature.ts';
import { waitingCountText, workWaitsText } from './shared/wording-view.ts';
import { siteFeature } from './site/feature.ts';

const outboxFeature: Feature = {
  limits: (teamId, { timing }) =>
    workspaceLimits(teamId, timing).map((limit) => ({
      limit,
      ...(limitNameOf(limit) === 'edit' && {
        show(usage) {
          const free = usage?.free === 0 ? 'all in use' : `${usage?.free} free`;
          const use = usage === undefined ? '' : `, ${free} right now, ${waitingCountText(usage.waiting)}`;
          // Edits always wait for seconds.
          return { text: `edits in Slack: up to ${timing.editsPerMinute} a minute${use}` };
        },
      }),
    })),
};

const statusFeature: Feature = {
  permission: { name: 'admin' },
};

/** The features on the Home tab and in `/docs-status`, in this order. */
export const features: readonly Feature[] = [
  exportFeature,
  deploymentFeature,
  outboxFeature,
  agentFeature,
  pullRequestFeature,
  digestFeature,
  exportScheduleFeature,
  siteFeature,
  statusFeature,
];

/** Returns a run that Home lists, as its feature parses it, and how it is listed; undefined for other runs. */
export function homeRunOf(loaded: RunBase) {
  const kind = features.find(({ homeRuns }) => homeRuns?.job === loaded.job)?.homeRuns;
  const run = kind?.record.safeParse(loaded).data;
  return kind && run && { kind, run };
}

/** Returns every rate limit, except those of one conversation or one person. */
export const rateLimits = (teamId: string, context: LimitContext): RateLimit[] =>
  features.flatMap(({ limits }) => (limits?.(teamId, context) ?? []).flatMap(({ limit }) => limit ?? []));

/** Returns the limits of a feature that people read of. `usageOf` returns undefined if it cannot be read in time. */
export function limitsInUse(
  { limits }: Feature,
  teamId: string,
  context: LimitContext,
  usageOf: (limit: RateLimit) => Promise<RateLimitUsage | undefined>,
) {
  const all = limits?.(teamId, context) ?? [];
  return Promise.all(
    all.flatMap(({ limit, show }) => (show ? [(async () => show(limit && (await usageOf(limit))))()] : [])),
  );
}

/** Returns the features' work in these projects that needs their key, such as "3 exports wait"; empty if there is none. */
export async function workThatWaits(teamId: string, projects: readonly string[], context: WorkContext) {
  const found = await Promise.all(features.map((feature) => feature.needsKey?.(teamId, projects, context)));
  return workWaitsText(found.flatMap((work) => (work && work.count > 0 ? [work] : [])));
}
