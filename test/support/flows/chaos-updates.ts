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

/** A deployment that people update to each export, and what must hold of it. */
export async function createUpdates({ slack, platform }: World, exports: Exports) {
  const { domains, messagesOf, isExported } = exports;
  const deployment = await startDeployment();
  const { wire, secret, webhookUrl, stop } = deployment;
  // A callback goes to the bot that takes requests now; it is repeated if that one dies.
  wire.onCall(() => {
    deployment.docketUrl = new URL(slack.botUrl ?? '').origin;
  });
  const asked = new Set<string>();
  const webhook = `{ url: ${webhookUrl}, secret: { env: DEPLOY_SECRET }, includeLink: true }`;
  const project = `{ projectId: ${platform.projectId}, domains: [${domains}], deployments: { production: { webhook: ${webhook} } } }`;

  const shown = () =>
    [...asked].map((domain) => ({
      domain,
      texts: messagesOf(domain, '.update').map((message) => slack.read(message)),
    }));
  const current = () =>
    shown().filter(({ texts }) => texts.some((text) => /^✅ production (?:notified|serves)/u.test(text)));
  const open = () =>
    shown().filter(({ texts }) => !texts.some((text) => /^(?:✅|➖) production/u.test(text)));

  return {
    wire,
    stop,
    config: `projects: { acme: ${project} }\nallow: { deploy: [U0ANA, U0BEN] }\n`,
    env: { DEPLOY_SECRET: secret },
    /** Clicks [Update production] under the export of a site once it is done, until something is shown of it. */
    async ask(domain: string) {
      while (messagesOf(domain, '.update').length === 0) {
        await pause(AGAIN_MS);
        const [done] = isExported(domain) ? messagesOf(domain, '.end.') : [];
        if (done === undefined) continue;
        // Without an answer of Slack, it is unknown who may update: then there is no button.
        if (!slack.read(done).includes('[Update production]')) return;
        asked.add(domain);
        // It may be refused, or no bot may answer.
        await slack
          .person('ana')
          .clicks(done, 'Update production')
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
        severalCurrent: current().length === 1 ? [] : [`current: ${current().map(({ domain }) => domain)}`],
      };
    },
  };
}
