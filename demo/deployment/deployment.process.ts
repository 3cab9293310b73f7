import { expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform } from '../docs-platform/platform.ts';
import { startTinyBot } from '../test-support/bot.ts';
import { SECRET, webhook } from '../test-support/deployment.ts';
import { startDeployment } from './deployment.ts';

const AHEAD_MS = 86_400_000;

/** A deployment on a clock of its own, and exports of a platform. */
async function started() {
  const nowMs = () => Date.now() + AHEAD_MS;
  const platform = createStandInPlatform({ nowMs });
  const listening = await platform.listen();
  const docket = await startTinyBot();
  const deployment = await startDeployment({ nowMs, secret: SECRET });
  onTestFinished(async () => {
    await deployment.stop();
    await listening.close();
  });
  const ask = async (path: string, body?: object) => {
    const json = body && { body: JSON.stringify(body) };
    const headers = {
      authorization: `Bearer ${platform.apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const answer = await fetch(listening.url + path, { method: 'POST', headers, ...json });
    return (await answer.json()) as { jobId: string; bundleUrl: string };
  };
  async function exported(version: string) {
    const { jobId } = await ask('/v1/static-export/jobs', { domain: 'docs.acme.com', version });
    platform.finish(jobId);
    const { bundleUrl } = await ask(`/v1/static-export/jobs/${jobId}/bundle`);
    return { jobId, version, domain: 'docs.acme.com', bundleUrl };
  }
  const notify = async (id: string, data: object) =>
    (await fetch(deployment.webhookUrl, webhook({ id, atMs: nowMs(), data }))).status;
  const read = async (path: string) => {
    const answer = await fetch(deployment.url + path);
    return { status: answer.status, text: await answer.text() };
  };
  return { deployment, docket, exported, notify, read };
}

test('it serves the bundle that it was notified of, also an earlier one, and takes faults as the other stand-ins do', async () => {
  const { deployment, docket, exported, notify, read } = await started();
  expect(deployment.serves()).toBeUndefined();
  expect(await read('/')).toMatchObject({ status: 404 });
  deployment.docketUrl = new URL(docket.url).origin;
  const { bundleUrl, ...served } = await exported('v1');
  expect(await notify('msg_a_1_0', { ...served, bundleUrl })).toBe(202);
  await expect.poll(() => deployment.callbacks).toHaveLength(1);
  expect(deployment.callbacks).toEqual([{ id: 'msg_a_1_0', body: { state: 'live' }, status: 200 }]);
  expect(docket.received[0]?.headers['webhook-signature']).toMatch(/^v1,/);
  expect(deployment.serves()).toEqual(served);
  const home = await read('/');
  expect(home).toMatchObject({ status: 200, text: expect.stringContaining('docs.acme.com') });
  expect(home.text).toContain(`Version v1 · ${served.jobId}`);
  expect((await read('/introduction/index.html')).text).toContain('This is introduction.');
  for (const path of ['/nothing', '/..%2f..%2fetc/passwd', '/%2e%2e/%2e%2e/releases'])
    expect([path, (await read(path)).status]).toEqual([path, 404]);
  expect(JSON.stringify(deployment.wire.calls)).not.toContain(bundleUrl);
  expect(deployment.wire.calls[0]).toMatchObject({
    name: 'POST /docket',
    detail: { id: 'msg_a_1_0', type: 'export.ready', data: { version: 'v1', hasLink: true } },
    outcome: '202',
    caused: ['the deployment fetches the bundle'],
  });

  deployment.wire.order('POST /docket', { kind: 'answer', status: 410, text: 'This site is gone.' });
  const second = await exported('v2');
  expect(await notify('msg_b', second)).toBe(410);
  for (const data of [second, { ...served, bundleUrl }]) {
    expect(await notify(`msg_${data.version}`, data)).toBe(202);
    await expect.poll(() => deployment.serves()?.version).toBe(data.version);
  }
});
