import { afterAll, expect, onTestFinished, test } from 'vitest';
import { answering, tcpServer } from '../support/docs-api/servers.ts';
import { httpsPlatform, trust } from '../support/docs-api/tls.ts';
import { type Stage, stageOf } from '../support/flows/stage.ts';
import { createWorld, temporaryFolder } from '../support/flows/world.ts';
import { makeCertificates } from '../support/store/certificates.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** A platform with such a certificate, whose authority is trusted. */
async function certified(made: Parameters<typeof makeCertificates>[1]) {
  const certificates = makeCertificates(folder.path, made);
  trust(certificates);
  const platform = await httpsPlatform(certificates);
  return { url: `https://127.0.0.1:${platform.port}`, requests: platform.requests };
}

/** A bot whose platform is at `url`. */
async function botAt(url: string): Promise<Stage> {
  const world = await createWorld();
  onTestFinished(() => world.close());
  const DOCS_API_URL = url.replace('http:', 'https:');
  await world.startBot({ env: { DOCS_API_URL }, timing: { giveUpMs: 400 } });
  return stageOf(() => world);
}

test.each([
  [
    'whose certificate nobody trusts',
    async () => {
      const platform = await httpsPlatform(makeCertificates(folder.path));
      return { url: `https://127.0.0.1:${platform.port}`, requests: platform.requests };
    },
    'This machine does not trust the certificate of DOCS_API_URL. Set NODE_EXTRA_CA_CERTS',
  ],
  [
    'whose certificate has expired',
    () => certified({ days: -1 }),
    'The certificate of DOCS_API_URL has expired. Renew it.',
  ],
  [
    'whose certificate is for another host',
    () => certified({ names: 'DNS:docs.other.example' }),
    'The certificate of DOCS_API_URL',
  ],
  [
    'that does not speak https',
    () => answering(202, { jobId: 'se_1', status: 'pending' }),
    'The server at DOCS_API_URL does not use https.',
  ],
  [
    'that never takes the connection',
    async () => ({ url: (await tcpServer(() => {})).url, requests: [] }),
    'the docs platform does not answer at DOCS_API_URL',
  ],
])(
  'of a platform %s, people read that nothing was started, and the operator what to do',
  async (_, listen, advice) => {
    const platform = await listen();
    const { asks, until, world } = await botAt(platform.url);
    await asks();
    await until(['❌ @ana Not started · docs.acme.com', '❌ Not started · docs.acme.com']);
    await asks('/docs-agent new Fix the getting started page, please');
    await until(['Job not created']);
    expect(world.bots.map((bot) => bot.output()).join()).toContain(advice);
    expect(platform.requests).toEqual([]);
  },
);
