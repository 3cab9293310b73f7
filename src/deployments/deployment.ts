import type { Deployment, Project } from '../projects.ts';
import { createKey } from '../runtime/key-file.ts';
import { createGithub } from './github.ts';
import type { Answer, Send } from './sender.ts';
import { sendWebhook, type WebhookMessage } from './webhook.ts';

/** One finished call to a deployment, for logs and metrics. Has no address, secret or text from outside. */
export type DeploymentCall = Pick<Answer, 'outcome' | 'status' | 'reason'> &
  Record<'project' | 'deployment', string> & { kind: 'webhook' | 'github'; durationMs: number };

/** The calls to one deployment of the settings. */
export type DeploymentApi = NonNullable<ReturnType<ReturnType<typeof createDeployments>>>;

/** A token of GitHub, and the day in UTC on which it expires, such as 2026-12-31. */
export type ExpiringToken = Pick<Project, 'apiKey' | 'apiKeyFile'> & Record<'variable' | 'expires', string>;

interface TokenEvents {
  /** Gets a token that was read again before it is used. */
  renewed: (token: string) => void;
  expires: (token: ExpiringToken) => void;
}

/** Returns a function that returns the calls to a deployment; undefined if the settings do not have it. */
export function createDeployments(
  projects: readonly Pick<Project, 'name' | 'deployments'>[],
  send: Send,
  machineMs: () => number,
  onCall: (call: DeploymentCall) => void,
  tokens?: TokenEvents,
) {
  const callsOf = (project: string, { name: deployment, webhook, github }: Deployment) => {
    const watched: Send = async (request) => {
      const startMs = performance.now();
      const answer = await send(request);
      const { outcome, status, reason } = answer;
      const durationMs = Math.round(performance.now() - startMs);
      const kind = webhook ? 'webhook' : 'github';
      onCall({ project, deployment, kind, outcome, status, reason, durationMs });
      return answer;
    };
    if (webhook)
      return {
        kind: 'webhook' as const,
        includeLink: webhook.includeLink,
        /** Sends a message once, signed with the time of this machine, by which callbacks are checked. Never rejects. */
        send: (message: WebhookMessage, about?: Parameters<typeof sendWebhook>[4]) =>
          sendWebhook(watched, webhook, message, machineMs(), about),
      };
    if (!github) return undefined;
    const { name, file } = github.token;
    const token = createKey(github.token.secret, file, tokens?.renewed);
    const onExpiry = (expires: string) =>
      tokens?.expires({ apiKey: token.current(), apiKeyFile: file, variable: name, expires });
    return { kind: 'github' as const, ...createGithub(watched, github, token, onExpiry) };
  };
  const apis = new Map(
    projects.flatMap(({ name, deployments = [] }) =>
      deployments.map((one) => [`${name} ${one.name}`, callsOf(name, one)] as const),
    ),
  );
  return (project: string, deployment: string) => apis.get(`${project} ${deployment}`);
}
