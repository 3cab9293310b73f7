import type { LinkRun } from '../../../../src/jobs/link/record.ts';
import { NOW_MS } from '../../builders.ts';

/** Ben's own link to an export of Ana's, just asked for. */
export function aLinkRun(changes: Partial<LinkRun> = {}): LinkRun {
  return {
    id: '7a7a1c2b4d5e6f708192a3b4',
    teamId: 'T0ACME',
    job: 'link',
    rev: 1,
    people: [],
    claim: 'c2b2',
    project: 'acme',
    exportJobId: 'se_3f9a77bd04c24a06',
    site: 'docs.acme.com (1.2)',
    to: { id: 'U0BEN', name: 'ben' },
    state: 'making',
    sinceMs: NOW_MS,
    nextPollAtMs: NOW_MS,
    made: 1,
    ...changes,
  };
}
