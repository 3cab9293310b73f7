import { editRateLimit } from '../slack/rate-limits.ts';
import { agentFeature } from './agent/feature.ts';
import { digestFeature } from './digest/feature.ts';
import { exportFeature } from './export/feature.ts';
import type { Feature, FeatureContext, LimitedPerson, LimitInUse, Work, WorkContext } from './feature.ts';
import { waitingText } from './wording-view.ts';

const outboxFeature: Feature = {
  async limits({ teamId }, { rateLimiter, timing }) {
    const edits = editRateLimit(teamId, timing);
    const usage = await rateLimiter.usage(edits);
    const free = usage?.free === 0 ? 'all in use' : `${usage?.free} free`;
    const use = usage === undefined ? '' : `, ${free} right now, ${waitingText(usage.waiting)}`;
    // Edits always wait for seconds.
    return [{ text: `edits in Slack: up to ${timing.editsPerMinute} a minute${use}` }];
  },
};

const statusFeature: Feature = {
  command: '/docs-status',
  permission: { name: 'admin', may: 'Administer Docket: read its audit log' },
};

/** The features on the Home tab and in `/docs-status`, in this order. */
export const features: readonly Feature[] = [
  exportFeature,
  outboxFeature,
  agentFeature,
  digestFeature,
  statusFeature,
];

/** Returns this person's limits of all features. */
export async function limitsInUse(person: LimitedPerson, context: FeatureContext): Promise<LimitInUse[]> {
  const limits = await Promise.all(features.map((feature) => feature.limits?.(person, context) ?? []));
  return limits.flat();
}

/** Returns the features' work in these projects that needs their key; only counts above zero. */
export async function workWithKey(
  teamId: string,
  projects: readonly string[],
  context: WorkContext,
): Promise<Work[]> {
  const found = await Promise.all(features.map((feature) => feature.needsKey?.(teamId, projects, context)));
  return found.flatMap((work) => (work === undefined || work.count === 0 ? [] : [work]));
}
