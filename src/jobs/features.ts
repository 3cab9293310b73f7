import { agentFeature } from './agent/feature.ts';
import { digestFeature } from './digest/feature.ts';
import { exportFeature } from './export/feature.ts';
import type { Feature, FeatureContext, LimitedPerson } from './feature.ts';
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
  const lines = await Promise.all(features.map((feature) => feature.limits?.(person, context) ?? []));
  return lines.flat();
}
