import type { SiteRun } from '../../../../src/jobs/site/record.ts';
import { NOW_MS } from '../../builders.ts';

/** Ana's preview of a branch, just asked for in a thread. */
export const aPreview = (changes: Partial<SiteRun> = {}): SiteRun => ({
  id: '6d2e1b3c4f50718293a4b5c6',
  teamId: 'T0ACME',
  job: 'site',
  rev: 1,
  claim: 'c1a2',
  people: ['U0ANA'],
  project: 'default',
  branch: 'agent/quickstart',
  domain: 'docs.acme.com',
  by: { id: 'U0ANA', name: 'ana' },
  asked: { channel: 'C0DOCS', joinable: true, isPublic: true },
  inDirectMessage: false,
  thread: { id: '3f9a1c2b4d5e6f708192a3b4', channel: 'C0DOCS', threadTs: '1789912800.000100' },
  ...{ attempt: 1, state: 'postingCard', sinceMs: NOW_MS, nextPollAtMs: NOW_MS },
  ...changes,
});

/** Her update of the site, by a command in a channel. */
export const aSiteUpdate = (changes: Partial<SiteRun> = {}): SiteRun =>
  aPreview({ branch: undefined, thread: undefined, ...changes });
