import { afterAll, expect, onTestFinished, test } from 'vitest';
import { proxyTo, tlsBefore } from '../support/docs-api/tls.ts';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld, temporaryFolder } from '../support/flows/world.ts';
import { makeCertificates } from '../support/store/certificates.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

test('Slack and the platform are reached through the proxy, with an authority that .env names', async () => {
  const certificates = makeCertificates(folder.path, { names: 'DNS:slack.test,DNS:docs-api.test' });
  const world = await createWorld({ transport: 'socket' });
  const servers = [await world.slack.listen(), await world.platform.listen()];
  onTestFinished(async () => {
    await world.close();
    for (const server of servers) await server.close();
  });
  const ports = await Promise.all(
    servers.map(({ url }) => tlsBefore(Number(new URL(url).port), certificates)),
  );
  const proxy = await proxyTo({ 'slack.test': ports[0] ?? 0, 'docs-api.test': ports[1] ?? 0 });
  const { exporting, until } = stageOf(() => world);

  await world.startBot({
    process: true,
    timing: { slackCallMs: 5000, docsCallMs: 5000 },
    env: {
      SLACK_API_URL: 'https://slack.test/api/',
      DOCS_API_URL: 'https://docs-api.test',
      TEST_DOT_ENV: JSON.stringify({
        HTTPS_PROXY: proxy.url.replace('//', '//bob:secret@'),
        NODE_EXTRA_CA_CERTS: certificates.ca,
      }),
    },
  });
  await exporting();
  world.platform.finish('docs.acme.com');
  await until([', took']);
  const asked = new Set(proxy.asked.map(({ target }) => target));
  expect(asked).toEqual(new Set(['slack.test:443', 'docs-api.test:443']));
  expect(world.bots.map((bot) => bot.output()).join()).not.toContain('bob:secret');
});
