import { agentFeature } from './agent/feature.ts';
import { digestFeature } from './digest/feature.ts';
import { exportFeature } from './export/feature.ts';
import type { Feature, FeatureContext, LimitedPerson, LimitInUse, Work, WorkContext } from './feature.ts';
import { outboxFeature } from './outbox/feature.ts';
import { statusFeature } from './status/feature.ts';

/** The features on the Home tab and in `/docs-status`, in this order. */
export const features: readonly Feature[] = [
  exportFeature,
  outboxFeature,
  agentFeature,
  digestFeature,
  statusFeature,
];

/** Returns this person's limits of all features, one per line. */
export async function limitLines(person: LimitedPerson, context: FeatureContext): Promise<string[]> {
  return (await limitsInUse(person, context)).map(({ text }) => text);
}

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
