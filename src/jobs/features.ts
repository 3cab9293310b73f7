import { agentFeature } from './agent/feature.ts';
import { exportFeature } from './export/feature.ts';
import type { Feature } from './feature.ts';
import { outboxFeature } from './outbox/feature.ts';
import { statusFeature } from './status/feature.ts';

/** What the Home tab and `/docs-status` show, feature by feature in this order. */
export const features: readonly Feature[] = [exportFeature, outboxFeature, agentFeature, statusFeature];

/** Returns the limits of all features, a line for each. */
export async function limitLines(
  teamId: string,
  context: Parameters<NonNullable<Feature['limits']>>[1],
): Promise<string[]> {
  const lines = await Promise.all(features.map((feature) => feature.limits?.(teamId, context) ?? []));
  return lines.flat();
}
