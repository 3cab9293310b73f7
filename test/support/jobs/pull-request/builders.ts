import { newPullRequest, type PullRequestRun } from '../../../../src/jobs/pull-request/record.ts';
import { NOW_MS } from '../../builders.ts';

const HOUR_MS = 3_600_000;

/** An open pull request without a review. */
export const aPullRequest = (changes: Partial<PullRequestRun> = {}): PullRequestRun => ({
  ...newPullRequest(
    {
      teamId: 'T0ACME',
      project: 'acme',
      repository: 'acme/docs',
      number: 131,
      link: 'https://github.com/acme/docs/pull/131',
      thread: 'thread1',
      round: 1,
      author: { id: 'U0ANA', name: 'ana' },
      owner: { id: 'U0ANA', name: 'ana' },
      asked: { channel: 'C000000001', isPublic: true },
      inDirectMessage: false,
      place: { channel: 'C000000001', rootTs: '1700000000.000100' },
      openedAtMs: NOW_MS - 50 * HOUR_MS,
    },
    NOW_MS,
  ),
  state: 'following',
  pull: {
    number: 131,
    state: 'open',
    isDraft: false,
    headSha: 'c342d87871461e545da6c6f6fef326eefb8f9b97',
    updatedAtMs: NOW_MS - HOUR_MS,
  },
  details: { review: 'none', checks: 'passed', failed: [] },
  ...changes,
});
