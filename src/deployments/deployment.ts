import type { Project } from '../projects.ts';
import { createGithub } from './github.ts';
import type { Answer, Sender } from './sender.ts';
import { sendWebhook, type WebhookMessage, type WebhookResult } from './webhook.ts';

/** The calls to one deployment of the settings. */
export type DeploymentApi =
  | {
      kind: 'webhook';
      includeLink: boolean;
      /** Sends a message once; `nowMs` is the time of this attempt. Never rejects. */
      send(message: WebhookMessage, nowMs: number, signal?: AbortSignal): Promise<WebhookResult>;
    }
  | ({
      kind: 'github';
      repository: string;
      /** The workflow's file, or the event's type. */
      starts: string;
    } & ReturnType<typeof createGithub>);

/** One finished call to a deployment, for logs and metrics. Has no address, secret or text from outside. */
export interface DeploymentCall {
  project: string;
  deployment: string;
  kind: DeploymentApi['kind'];
  /** `failed`: no answer, or one that says nothing about the call itself. */
  outcome: 'ok' | 'refused' | 'failed';
  /** Undefined without an answer; then `reason` is a code or a few words. */
  status: number | undefined;
  reason: string | undefined;
  durationMs: number;
}

/** Returns a function that returns the calls to a deployment; undefined if the settings do not have it. */
export function createDeployments(
  projects: readonly Pick<Project, 'name' | 'deployments'>[],
  sender: Pick<Sender, 'send' | 'timeoutMs'>,
  onCall: (call: DeploymentCall) => void,
) {
  return (project: string, deployment: string): DeploymentApi | undefined => {
    const { deployments } = projects.find(({ name }) => name === project) ?? {};
    const found = deployments?.find(({ name }) => name === deployment);
    if (found === undefined) return undefined;
    const kind = 'webhook' in found ? 'webhook' : 'github';
    const watched: typeof sender = {
      ...sender,
      async send(request) {
        const startMs = performance.now();
        const answer = await sender.send(request);
        const durationMs = Math.round(performance.now() - startMs);
        const reason = answer.status === undefined ? answer.reason : undefined;
        onCall({
          ...{ project, deployment, kind, durationMs, reason },
          ...{ status: answer.status, outcome: outcomeOf(answer) },
        });
        return answer;
      },
    };
    if ('webhook' in found) {
      const { webhook } = found;
      return {
        kind: 'webhook',
        includeLink: webhook.includeLink,
        send: (message, nowMs, signal) => sendWebhook(watched, webhook, message, nowMs, signal),
      };
    }
    const { repository, workflow, event = '' } = found.github;
    return { kind: 'github', repository, starts: workflow ?? event, ...createGithub(watched, found.github) };
  };
}

function outcomeOf({ status }: Answer): DeploymentCall['outcome'] {
  if (status === undefined || status >= 500) return 'failed';
  return status >= 200 && status < 300 ? 'ok' : 'refused';
}
