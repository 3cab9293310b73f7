import { type GitHost, GitHostError, limitOfHost } from '../../../../src/git-hosts/git-host.ts';
import type { Details, Pull } from '../../../../src/git-hosts/pull.ts';
import {
  newPullRequest,
  type PullRequestRun,
  pullRequestRun,
  type RepositoryRun,
  repositoryRun,
} from '../../../../src/jobs/pull-request/record.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';
import { aThread } from '../agent/builders.ts';
import { aPullRequest } from '../pull-request/builders.ts';
import type { Engine, Process } from './engine.ts';
import { MINUTE_MS, type Parts, type Scenario, teamId } from './scenarios.ts';

const SHA = 'c342d87871461e545da6c6f6fef326eefb8f9b97';

const settings = {
  host: 'github' as const,
  apiUrl: 'https://git.test/api/v3',
  token: { secret: 's', name: 'GIT_TOKEN' },
  remindAfterDays: 1,
};

/** A Git host with one pull request: its checks fail, and then it is merged, at these times. */
export function createGitHost({ now, random }: Engine) {
  const plan = { failsAtMs: Infinity, mergedAtMs: Infinity };

  function pullOf(): Pull {
    const isMerged = now() >= plan.mergedAtMs;
    const updatedAtMs = isMerged ? plan.mergedAtMs : 0;
    const state = isMerged
      ? { state: 'merged' as const, endedAtMs: updatedAtMs }
      : { state: 'open' as const };
    return { number: 131, isDraft: false, headSha: SHA, updatedAtMs, ...state };
  }

  const detailsOf = (): Details =>
    now() >= plan.failsAtMs
      ? { review: 'none', checks: 'failed', failed: ['build'] }
      : { review: 'none', checks: 'running', failed: [] };

  const failed = () =>
    random() < 0.5
      ? new GitHostError('status 429', 429, MINUTE_MS)
      : new GitHostError('ECONNREFUSED', undefined, undefined);
  const limitMs = defaultTiming.deploymentCallMs;

  const of = ({ cross }: Process) => {
    const call = <T>(method: string, effect: () => T) =>
      cross({ name: `git.${method}`, call: effect, failed, unclear: failed, tooLate: failed, limitMs });
    const host: GitHost = {
      // Of the links of other scenarios, none is of this host.
      parse: (link) => (link === aPullRequest().link ? { repository: 'acme/docs', number: 131 } : undefined),
      settings,
      limit: limitOfHost(settings),
      async list(_repository, { etag }, slots) {
        await slots(1);
        const pull = pullOf();
        const latest = `"${pull.state}"`;
        return call('list', () => (etag === latest ? undefined : { etag: latest, pulls: [pull] }));
      },
      async read(_repository, _number, slots) {
        await slots(1);
        return call('read', () => ({ ...pullOf(), by: 'ben' }));
      },
      async details(_repository, _pull, slots) {
        await slots(3);
        return call('details', detailsOf);
      },
    };
    return host;
  };
  return { plan, of };
}

/** The checks of a pull request fail, and it is merged; maybe nobody reviews it for a day before. */
export function pullRequestScenario({ now, one, accept, runs, gitHost, messages }: Parts): Scenario {
  const place = { channel: 'C0DOCS', rootTs: '1.0001' };
  const run = newPullRequest({ ...aPullRequest(), teamId, place, openedAtMs: now() }, now());
  const isLate = one([true, false]);
  gitHost.plan.failsAtMs = now() + one([0, 2, 20]) * MINUTE_MS;
  gitHost.plan.mergedAtMs = now() + (isLate ? 36 * 60 : one([40, 70])) * MINUTE_MS;
  const posts = (name: string) => messages.filter(({ key }) => key === `${run.id}.${name}`).length;
  return {
    async begin() {
      const nowhere = { nextPollAtMs: Number.MAX_SAFE_INTEGER, place: undefined };
      await runs.accept(aThread({ ...nowhere, id: run.thread, teamId, claim: undefined }));
      await accept(run);
    },
    async check() {
      const { state, pull } = (await runs.load(run.id, pullRequestRun)) as PullRequestRun;
      const [repository] = await runs.activeOf(repositoryRun, 'git-repository', teamId);
      const followed = (repository as RepositoryRun | undefined)?.followed ?? [];
      return [
        ...(state === 'ended' && pull?.state === 'merged' ? [] : [`the pull request is ${state}`]),
        ...(followed.length > 0 ? ['its repository still follows it'] : []),
        ...['ended', 'checks.1', ...(isLate ? ['reminder'] : [])].flatMap((name) =>
          posts(name) === 1 ? [] : [`${posts(name)} posts of ${name}`],
        ),
      ];
    },
  };
}
