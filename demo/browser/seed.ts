import type { StandInDeployment } from '../deployment/deployment.ts';
import type { StandInPlatform } from '../docs-platform/platform.ts';
import type { StandInSlack } from '../slack/slack.ts';
import { VISITORS } from './protocol.ts';

/** The site whose docs the demo is about. */
export const DOMAIN = 'docs.acme.com';

/** Where the agent works on them. */
export const REPOSITORY = 'acme/docs';

/** Long enough to be watched; a follow-up updates the pull request that its job has. */
export const PLANS = {
  exportPlan: { durationMs: 10_000, pages: 128 },
  agentPlan: { durationMs: 6000, outcome: 'same_pr' as const, branch: 'agent/quickstart-example' },
  buildPlan: {
    queuedMs: 1500,
    durationMs: 4000,
    filesChanged: { modified: ['guides/quickstart.mdx'], added: ['guides/limits.mdx'] },
  },
};

/** Everybody has direct messages with Docket, as if they had met before. */
export function openDirectMessages({ workspace }: StandInSlack): void {
  for (const name of VISITORS) {
    const user = workspace.users.find((one) => one.name === name);
    if (user) workspace.direct([workspace.bot.userId, user.id]);
  }
}

/** Everybody has the visitor's time, so that 9:00 in a modal is 9:00 on the clock of the panel. */
export function liveHere({ workspace }: StandInSlack): void {
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const tzOffset = -60 * new Date(workspace.nowMs()).getTimezoneOffset();
  for (const user of workspace.users) if (!user.isBot) Object.assign(user, { tz, tzOffset });
}

/**
 * The text of the settings file of a bot that updates a deployment, whose secret is in `DEPLOY_SECRET`, and reads pull
 * requests, with the token in `GIT_TOKEN`.
 */
export function settingsFileFor(
  slack: StandInSlack,
  { projectId }: StandInPlatform,
  { url, webhookUrl }: StandInDeployment,
  gitHostUrl: string,
): string {
  const webhook = { url: webhookUrl, secret: { env: 'DEPLOY_SECRET' }, includeLink: true };
  const deployments = { production: { webhook, url } };
  const pullRequests = { github: { token: { env: 'GIT_TOKEN' }, apiUrl: `${gitHostUrl}/api/v3` } };
  // JSON is YAML.
  return JSON.stringify({
    projects: { acme: { projectId, domains: [DOMAIN], deployments, pullRequests } },
    allow: { deploy: [slack.person('ana').id], admin: [slack.person('ana').id] },
  });
}

/** The settings of a bot that talks to these stand-ins. */
export function settingsFor(
  slack: StandInSlack,
  platform: StandInPlatform,
  urls: { slack: string; platform: string },
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    SLACK_BOT_TOKEN: slack.tokens.bot,
    SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
    SLACK_API_URL: `${urls.slack}/api/`,
    DOCS_API_URL: urls.platform,
    DOCS_API_KEY: platform.apiKey,
    DOCS_DOMAIN: DOMAIN,
  };
}
