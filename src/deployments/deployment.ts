import type { Deployment, Project } from '../projects.ts';
import { PATIENCE_MS } from '../runtime/answers.ts';
import { createKey } from '../runtime/key-file.ts';
import { createGithub, GithubError } from './github.ts';
import type { Answer, Send } from './sender.ts';
import { createSigner, sendWebhook, type WebhookMessage } from './webhook.ts';

/** One finished call to a deployment, for logs and metrics. Has no address, secret or text from outside. */
export type DeploymentCall = Pick<Answer, 'outcome' | 'status' | 'reason'> &
  Record<'project' | 'deployment', string> & { kind: 'webhook' | 'github'; durationMs: number };

/** The calls to one deployment of the settings. */
export type DeploymentApi = NonNullable<ReturnType<ReturnType<typeof createDeployments>>>;

/** A token of GitHub, and the day in UTC on which it expires, such as 2026-12-31. */
export type ExpiringToken = Pick<Project, 'apiKey' | 'apiKeyFile'> & Record<'variable' | 'expires', string>;

/** A result of a call: `send` to hand over an export, `read` of a workflow's run, or `check` whether a repository is there. */
export interface DeploymentResult {
  of: 'send' | 'read' | 'check';
  /** `isFinal`: a repetition would be refused, too. */
  failure?: { isFinal: boolean; status: number | undefined; reason: string };
  run?: { id: number; conclusion: string | undefined } | undefined;
}

interface DeploymentEvents {
  /** Gets the parts of a token or a secret that was read again, before it is used. */
  renewed: (hidden: string[]) => void;
  expires: (token: ExpiringToken) => void;
  ended: (project: string, deployment: Deployment, result: DeploymentResult) => void;
}

/** Returns a function that returns the calls to a deployment; undefined if the settings do not have it. */
export function createDeployments(
  projects: readonly Pick<Project, 'name' | 'deployments'>[],
  send: Send,
  machineMs: () => number,
  onCall: (call: DeploymentCall) => void,
  events?: DeploymentEvents,
) {
  const callsOf = (project: string, target: Deployment) => {
    const { name: deployment, webhook, github } = target;
    const ended = (result: DeploymentResult) => events?.ended(project, target, result);
    const watched: Send = async (request) => {
      const startMs = performance.now();
      const answer = await send(request);
      const { outcome, status, reason } = answer;
      const durationMs = Math.round(performance.now() - startMs);
      const kind = webhook ? 'webhook' : 'github';
      onCall({ project, deployment, kind, outcome, status, reason, durationMs });
      return answer;
    };
    if (webhook) {
      const signer = createSigner(webhook, events?.renewed);
      return {
        kind: 'webhook' as const,
        includeLink: webhook.includeLink,
        /** Sends a message once, signed with the time of this machine, by which callbacks are checked. Never rejects. */
        async send(message: WebhookMessage, about?: Parameters<typeof sendWebhook>[4]) {
          const result = await sendWebhook(watched, signer, message, machineMs(), about);
          // The repetition is signed with the new secret, so this answer says nothing. It may come late in the hour.
          if (result.kind === 'retry' && result.status === 401 && signer.renew())
            return { ...result, forMs: Math.max(result.forMs, PATIENCE_MS.hour) };
          if (result.kind === 'delivered') ended({ of: 'send' });
          else {
            const { kind, status } = result;
            const reason = kind === 'refused' ? `status ${status}` : result.reason;
            ended({ of: 'send', failure: { isFinal: kind === 'refused', status, reason } });
          }
          return result;
        },
      };
    }
    if (!github) return undefined;
    const { name, file } = github.token;
    const token = createKey(github.token.secret, file, (one) => events?.renewed([one]));
    const onExpiry = (expires: string) =>
      events?.expires({ apiKey: token.current(), apiKeyFile: file, variable: name, expires });
    const api = createGithub(watched, github, token, onExpiry);
    const watch =
      <Args extends unknown[], T>(
        of: DeploymentResult['of'],
        call: (...args: Args) => Promise<T>,
        runOf?: (value: T) => DeploymentResult['run'],
      ) =>
      async (...args: Args): Promise<T> => {
        try {
          const value = await call(...args);
          ended({ of, run: runOf?.(value) });
          return value;
        } catch (error) {
          if (!(error instanceof GithubError)) throw error;
          const { happened, retryable, status, reason } = error;
          const failure = { isFinal: happened === 'no' && !retryable, status, reason };
          // One of its limits says nothing about the workflow. It may be a 403, too.
          const isLimit = retryable && (status === 403 || status === 429);
          if (!isLimit) ended({ of, failure });
          throw error;
        }
      };
    return {
      kind: 'github' as const,
      dispatch: watch('send', api.dispatch),
      getRun: watch('read', api.getRun, (run) => run),
      check: watch('check', api.check),
    };
  };
  const apis = new Map(
    projects.flatMap(({ name, deployments = [] }) =>
      deployments.map((one) => [`${name} ${one.name}`, callsOf(name, one)] as const),
    ),
  );
  return (project: string, deployment: string) => apis.get(`${project} ${deployment}`);
}
