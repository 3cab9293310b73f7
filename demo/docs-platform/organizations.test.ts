import { expect, test } from 'vitest';
import { createStandInPlatform } from './platform.ts';

test('each organization has its own domains, and sees its own exports alone', async () => {
  const platform = createStandInPlatform({
    apiKey: 'adm_acme',
    domains: ['docs.acme.com'],
    others: [{ apiKey: 'adm_beta', domains: ['docs.beta.com'] }],
  });
  const call = (apiKey: string, method: string, path: string, body?: object) =>
    platform.fetch(`http://docs.test/v1/static-export/jobs${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });

  expect((await call('adm_acme', 'POST', '', { domain: 'docs.beta.com' })).status).toBe(400);
  const started = await call('adm_beta', 'POST', '', { domain: 'docs.beta.com' });
  const { jobId } = (await started.json()) as { jobId: string };
  expect(platform.keysOfExports.get(jobId)).toBe('adm_beta');
  platform.finish(jobId);
  for (const [apiKey, status] of [
    ['adm_beta', 200],
    ['adm_acme', 404],
    ['adm_none', 401],
  ] as const) {
    expect((await call(apiKey, 'GET', `/${jobId}`)).status).toBe(status);
    expect((await call(apiKey, 'POST', `/${jobId}/bundle`)).status).toBe(status);
  }
});
