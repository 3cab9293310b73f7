import { limitOfHost } from '../../git-hosts/git-host.ts';
import { defineHomeRuns, type Feature } from '../shared/feature.ts';
import { distinct, openedMs, type PullRequestRun, pullRequestKind, pullRequestRun } from './record.ts';
import { pullRequestLine } from './view.ts';

export const pullRequestFeature: Feature = {
  homeRuns: defineHomeRuns<PullRequestRun>({
    job: 'pull-request',
    title: 'Pull requests of the agent',
    ...pullRequestKind,
    async further(teamId, userId, { runs }) {
      const open = await runs.activeOf(pullRequestRun, 'pull-request', teamId);
      return distinct(open.filter(({ owner, author }) => [owner.id, author.id].includes(userId)))
        .toSorted((one, other) => openedMs(one) - openedMs(other))
        .map(({ id }) => id);
    },
    entry: (run, userId, { workspaceUrl }) =>
      run.pull?.state === 'open'
        ? { line: async () => pullRequestLine(run, userId, workspaceUrl()) }
        : undefined,
  }),

  limits: (_, { projects }) =>
    projects.flatMap(({ pullRequests }) => (pullRequests ? [{ limit: limitOfHost(pullRequests) }] : [])),
};
