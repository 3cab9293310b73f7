import { afterAll, describe, expect, test } from 'vitest';
import { startDeployment } from '../../demo/deployment/deployment.ts';
import { createStandInGitHub } from '../../demo/github/github.ts';
import { exportedText } from '../support/flows/receiver.ts';
import { stage } from '../support/flows/stage.ts';

const deployment = await startDeployment();
const github = createStandInGitHub();
const api = await github.listen();
afterAll(() => Promise.all([deployment.stop(), api.close()]));

const config = `
projects:
  acme:
    domains: [docs.acme.com]
    deployments:
      production:
        webhook: { url: ${deployment.webhookUrl}, secret: { env: DEPLOY_SECRET }, includeLink: true }
      staging:
        github: { apiUrl: ${api.url}, repository: acme/infra, workflow: update-docs.yml, token: { env: GITHUB_TOKEN } }
allow: { deploy: [U0ANA], admin: [U0BEN] }
`;

describe('a finished export', () => {
  const scene = stage({
    bot: { config, env: { DEPLOY_SECRET: deployment.secret, GITHUB_TOKEN: github.token } },
  });
  const { clicks, exporting, until } = scene;
  const exported = async (text?: string) => {
    deployment.docketUrl = `http://127.0.0.1:${scene.world.bots.at(-1)?.port}`;
    await exporting(text);
    scene.platform.finish('docs.acme.com');
    return until([`@ana ${exportedText()}`]);
  };

  test('goes live at a deployment by one click', async () => {
    const texts = await exported('/docs-export docs.acme.com --version v1');
    expect(texts.join('\n')).toContain('[Deploy to production] [Deploy to staging]');
    await clicks('ana', exportedText(), 'Deploy to production');
    await until(['✅ @ana Live on production']);
    expect(deployment.serves()).toMatchObject({ domain: 'docs.acme.com', version: 'v1' });
  });

  test('starts a workflow', async () => {
    await exported();
    github.plan({ durationMs: 100 });
    await clicks('ana', exportedText(), 'Deploy to staging');
    await until(['its workflow succeeded']);
    expect(github.runs).toHaveLength(1);
  });
});
