import { keyIdOf } from '../../docs-api/client.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import { pollRateLimits } from '../engine/polling.ts';
import { startNeeds } from '../operation/needs.ts';
import { defineHomeRuns, type Feature } from '../shared/feature.ts';
import { type SiteRun, siteActions, siteKind } from './record.ts';
import { answeredMessage, questionMessage, stateLine, subject } from './view.ts';

export const siteNeeds = startNeeds<SiteRun>({
  line: (run) => `Did the ${subject(run)} start?`,
  question: questionMessage,
  answered: answeredMessage,
  wasAnswered: (run) => `The question about the ${subject(run)} was already answered.`,
});

/** What the platform takes from one organization; a key stands for one without a name. */
export function startLimit(isPreview: boolean, organization: string | undefined, keyId: string): RateLimit {
  const [name, count, windowMs] = isPreview
    ? (['previews', 5, 60_000] as const)
    : (['site-updates', 10, 10_000] as const);
  const whose = organization === undefined ? keyId : `organization:${organization}`;
  return { name: `${name}:${whose}`, count, windowMs, perId: true };
}

export const siteFeature: Feature = {
  permission: { name: 'site' },

  begin: {
    button: { label: 'Preview a branch', action: siteActions.ask, value: JSON.stringify({ v: 1 }) },
    how: 'Preview a branch: the platform builds it, and you look at the pages before anybody merges them.',
  },

  homeRuns: defineHomeRuns<SiteRun>({
    job: 'site',
    title: 'Running now',
    ...siteKind,
    needs: siteNeeds,
    // The conversation shows how it ended.
    entry: (run) => (run.state === 'ended' ? undefined : { line: async () => stateLine(run) }),
  }),

  limits: (_, { projects, limits: { exportStatusPerSecond } }) => [
    ...[true, false].flatMap((isPreview) =>
      projects.map((one) => ({ limit: startLimit(isPreview, one.organization, keyIdOf(one)) })),
    ),
    ...pollRateLimits('site-status', projects, exportStatusPerSecond),
  ],
};
