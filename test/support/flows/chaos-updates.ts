import { setTimeout as pause } from 'node:timers/promises';
import { startDeployment } from '../../../demo/deployment/deployment.ts';
import type { SentMessage } from '../../../demo/slack/workspace.ts';
import type { World } from './world.ts';

/** How often people look whether something came of their click. */
const AGAIN_MS = 3000;

interface Exports {
  domains: readonly string[];
  messagesOf(domain: string, part: string): SentMessage[];
  isExported(domain: string): boolean;
}

/** A deployment to which people deploy each export, and what must hold of it. */
export async function createUpdates({ slack, platform }: World, exports: Exports) {
  const { domains, messagesOf, isExported } = exports;
  const deployment = await startDeployment();
  const { wire, callbacks, secret, webhookUrl, stop } = deployment;
  // A callback goes to the bot that takes requests now; it is repeated if that one dies.
  wire.onCall(() => {
    deployment.docketUrl = new URL(slack.botUrl ?? '').origin;
  });
  const asked = new Set<string>();
  const webhook = `{ url: ${webhookUrl}, secret: { env: DEPLOY_SECRET }, includeLink: true }`;
  const project = `{ projectId: ${platform.projectId}, domains: [${domains}], deployments: { production: { webhook: ${webhook} } } }`;

  const isDeployment = ({ text, metadata }: SentMessage) =>
    text.includes('production') &&
    /\.(?:line|question|end|trouble)\.\d+$/.test(String(metadata?.event_payload.key));
  /** The messages that show the deployment of a site's export. */
  const deploymentsOf = (domain: string) => messagesOf(domain, '').filter(isDeployment);
  const shown = () =>
    [...asked].map((domain) => ({
      domain,
      texts: deploymentsOf(domain).map((message) => slack.read(message)),
    }));
  const current = () =>
    shown().filter(({ texts }) =>
      texts.some((text) => /^(?:✅|📨) (?:@\w+ )?(?:Live on|Sent to) production/u.test(text)),
    );
  /** Whether the deployment reported that it cannot use a site's export: its download may have met a fault. */
  const isFailed = (domain: string) => {
    const calls = wire.calls.filter(({ detail }) => (detail.data as { domain?: string })?.domain === domain);
    const ids = new Set(calls.map(({ detail }) => detail.id));
    return callbacks.some(({ id, body, status }) => ids.has(id) && body.state === 'failed' && status === 204);
  };
  const isEnded = (domain: string, text: string) =>
    /^(?:✅|📨|➖) /u.test(text) ||
    (text.includes("production couldn't use this export") && isFailed(domain));
  const open = () => shown().filter(({ domain, texts }) => !texts.some((text) => isEnded(domain, text)));

  return {
    wire,
    stop,
    isDeployment,
    config: `projects: { acme: ${project} }\nallow: { deploy: [U0ANA, U0BEN] }\n`,
    env: { DEPLOY_SECRET: secret },
    /** Clicks [Deploy to production] under the export of a site once it is done, until something is shown of it. */
    async ask(domain: string) {
      while (deploymentsOf(domain).length === 0) {
        await pause(AGAIN_MS);
        const [done] = isExported(domain) ? messagesOf(domain, '.end.') : [];
        if (done === undefined) continue;
        // Without an answer of Slack, it is unknown who may update: then there is no button.
        if (!slack.read(done).includes('[Deploy to production]')) return;
        asked.add(domain);
        // It may be refused, or no bot may answer.
        await slack
          .person('ana')
          .clicks(done, 'Deploy to production')
          .catch(() => {});
      }
    },
    isSettled: () => open().length === 0 && current().length === 1,
    verdict() {
      const ids = [...new Set(wire.calls.map(({ detail }) => String(detail.id)))];
      // Links outlive the plan, so each attempt has one message.
      const attempts = Map.groupBy(ids, (id) => id.slice(0, id.lastIndexOf('_')));
      return {
        updatesLost: open().map(({ domain, texts }) => `${domain}: ${texts}`),
        notifiedTwice: [...attempts.values()].filter((same) => same.length > 1).map(String),
        shownTwice: shown().flatMap(({ domain, texts }) => (texts.length > 1 ? [`${domain}: ${texts}`] : [])),
        severalCurrent: current().length === 1 ? [] : [`current: ${current().map(({ domain }) => domain)}`],
      };
    },
  };
}
