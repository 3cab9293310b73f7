import type { Project } from '../projects.ts';
import { createGithub } from './github.ts';
import type { Answer, Send } from './sender.ts';
import { sendWebhook, type WebhookMessage } from './webhook.ts';

/** One finished call to a deployment, for logs and metrics. Has no address, secret or text from outside. */
export type DeploymentCall = Pick<Answer, 'outcome' | 'status' | 'reason'> &
  Record<'project' | 'deployment', string> & { kind: 'webhook' | 'github'; durationMs: number };

/** The calls to one deployment of the settings. */
export type DeploymentApi = NonNullable<ReturnType<ReturnType<typeof createDeployments>>>;

/** Returns a function that returns the calls to a deployment; undefined if the settings do not have it. */
export function createDeployments(
  projects: readonly Pick<Project, 'name' | 'deployments'>[],
  send: Send,
  onCall: (call: DeploymentCall) => void,
) {
  return (project: string, deployment: string) => {
    const { deployments } = projects.find(({ name }) => name === project) ?? {};
    const { webhook, github } = deployments?.find(({ name }) => name === deployment) ?? {};
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
        /** Sends a message once; `nowMs` is the time of this attempt. Never rejects. */
        send: (message: WebhookMessage, nowMs: number) => sendWebhook(watched, webhook, message, nowMs),
      };
    return github && { kind: 'github' as const, ...createGithub(watched, github) };
  };
}
