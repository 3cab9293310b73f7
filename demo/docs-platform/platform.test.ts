import { describe, expect, onTestFinished, test } from 'vitest';
import { standIn } from '../test-support/platform.ts';
import { createStandInPlatform } from './platform.ts';

describe('the key', () => {
  test.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic adm_right' }],
    ['no key', { authorization: 'Bearer ' }],
    ['a key without the prefix', { authorization: 'Bearer right' }],
    ['another key', { authorization: 'Bearer adm_wrong' }],
  ])('%s: 401 everywhere, and nothing happens', async (_, headers) => {
    const { platform } = standIn({ apiKey: 'adm_right' });
    const agentJob = platform.agent.add();
    const paths = [
      'POST /v1/static-export/jobs',
      'GET /v1/static-export/jobs/se_1',
      'POST /v1/static-export/jobs/se_1/bundle',
      `POST /v2/agent/prj_acme/job/${agentJob}/message`,
      `GET /v2/agent/prj_acme/job/${agentJob}`,
      'POST /v2/agent/prj_acme/job',
      'GET /v1/analytics/prj_acme/views',
      'GET /v1/analytics/prj_acme/visitors',
      'GET /v1/analytics/prj_acme/searches',
      'GET /v1/analytics/prj_acme/feedback/by-page',
      'GET /v1/analytics/prj_acme/assistant',
    ];
    for (const line of paths) {
      const [method = '', path] = line.split(' ');
      const answer = await platform.fetch(`http://docs.test${path}`, { method, headers });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toEqual({ error: expect.any(String) });
    }
    expect(platform.starts).toEqual([]);
    expect(platform.agent.messages).toEqual([]);
    expect(platform.used.analytics()).toBe(0);
    expect(platform.wire.calls).toHaveLength(paths.length);
  });

  test('must begin with its prefix', () => {
    expect(() => createStandInPlatform({ apiKey: 'other', keyPrefix: 'adm_' })).toThrow('prefix');
  });
});

test('an unknown operation: 404, and it is on the wire', async () => {
  const { platform, call } = standIn();
  expect((await call('GET', '/v1/unknown')).status).toBe(404);
  expect((await call('GET', '/v1/static-export/jobs')).status).toBe(404);
  expect(platform.wire.calls.map(({ name }) => name)).toEqual(['GET unknown', 'GET unknown']);
});

test('listens on a port of its own, where links point to', async () => {
  const { platform } = standIn();
  const server = await platform.listen();
  onTestFinished(() => server.close());
  const headers = { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ domain: 'docs.acme.com' });
  const started = await fetch(`${server.url}/v1/static-export/jobs`, { method: 'POST', headers, body });
  expect(started.status).toBe(202);
  platform.finish('docs.acme.com');
  const jobId = platform.starts[0]?.jobId;
  const answer = await fetch(`${server.url}/v1/static-export/jobs/${jobId}/bundle`, {
    method: 'POST',
    headers: { authorization: headers.authorization },
  });
  const { bundleUrl } = (await answer.json()) as { bundleUrl: string };
  expect(new URL(bundleUrl).origin).toBe(server.url);
  expect((await fetch(bundleUrl)).status).toBe(200);
});
