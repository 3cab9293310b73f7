import { agentFeature } from './agent/feature.ts';
import { digestFeature } from './digest/feature.ts';
import { exportFeature } from './export/feature.ts';
import type { Feature, FeatureContext, LimitedPerson, LimitInUse, Work, WorkContext } from './feature.ts';
import { outboxFeature } from './outbox/feature.ts';
import { statusFeature } from './status/feature.ts';

/** What the Home tab and `/docs-status` show, feature by feature in this order. */
export const features: readonly Feature[] = [
  exportFeature,
  outboxFeature,
  agentFeature,
  digestFeature,
  statusFeature,
];

/** Returns the limits of all features as this person sees them, a line for each. */
export async function limitLines(person: LimitedPerson, context: FeatureContext): Promise<string[]> {
  return (await limitsInUse(person, context)).map(({ text }) => text);
}

export async function limitsInUse(person: LimitedPerson, context: FeatureContext): Promise<LimitInUse[]> {
  const limits = await Promise.all(features.map((feature) => feature.limits?.(person, context) ?? []));
  return limits.flat();
}

/** Returns the work of all features in these projects that cannot go on without their key; of each at least one. */
export async function workWithKey(
  teamId: string,
  projects: readonly string[],
  context: WorkContext,
): Promise<Work[]> {
  const found = await Promise.all(features.map((feature) => feature.needsKey?.(teamId, projects, context)));
  return found.flatMap((work) => (work === undefined || work.count === 0 ? [] : [work]));
}
