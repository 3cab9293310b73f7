import { describe, expect, test } from 'vitest';
import { standIn } from '../test-support/platform.ts';

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
});
