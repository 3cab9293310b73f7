import type { StandInGitHost } from '../../../../demo/git-host/git-host.ts';
import type { Send } from '../../../../src/deployments/sender.ts';
import { createGitHosts } from '../../../../src/git-hosts/git-host.ts';
import type { PullRequests } from '../../../../src/projects.ts';

/** Reaches a stand-in inside this process. */
const sendTo =
  (host: StandInGitHost): Send =>
  async ({ url, headers }) => {
    const answer = await host.fetch(url, { headers: { 'user-agent': 'docket', ...headers } });
    const { status } = answer;
    return {
      isSent: true,
      status,
      headers: Object.fromEntries(answer.headers),
      text: await answer.text(),
      outcome: status < 300 ? 'ok' : 'refused',
      reason: `status ${status}`,
      retryAfterMs: undefined,
    };
  };

/** The stand-in as the GitHub of the project `acme`. */
export function gitHostOn(host: StandInGitHost, changes: Partial<PullRequests> = {}) {
  const pullRequests = {
    host: 'github' as const,
    apiUrl: 'https://git.acme.com/api/v3',
    token: { secret: host.token, name: 'GIT_TOKEN' },
    remindAfterDays: 0,
    ...changes,
  };
  return createGitHosts([{ name: 'acme', pullRequests }], sendTo(host), {
    renewed: () => {},
    ended: () => {},
  });
}
