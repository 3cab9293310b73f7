import { describe, expect, test } from 'vitest';
import { standIn } from '../test-support/platform.ts';

const PREVIEW = '/v1/project/preview/prj_acme';
const UPDATE = '/v1/project/update/prj_acme';
const STATUS = '/v1/project/update-status';

describe('previews and updates', () => {
  test.each([
    ['no branch', {}],
    ['an empty branch', { branch: '' }],
    ['a branch that is no text', { branch: 7 }],
    ['an unknown field', { branch: 'main', clean: true }],
    ['no JSON', 'main'],
  ])('%s: 400', async (_, body) => {
    const { platform, call } = standIn();
    expect((await call('POST', PREVIEW, { body })).status).toBe(400);
    expect(platform.site.builds).toEqual([]);
  });

  test('an update takes no body, and both need the project', async () => {
    const { platform, call } = standIn();
    expect((await call('POST', UPDATE, { body: {} })).status).toBe(400);
    expect((await call('POST', '/v1/project/update/other')).status).toBe(404);
    expect((await call('POST', '/v1/project/preview/other', { body: { branch: 'main' } })).status).toBe(404);
    expect((await call('GET', `${STATUS}/st_none`)).status).toBe(404);
    expect(platform.site.builds).toEqual([]);
  });

  test('go from queued to their end by the clock', async () => {
    const { platform, clock, call } = standIn();
    platform.site.plan({ queuedMs: 1000, durationMs: 2000 });
    const { status, body } = await call('POST', PREVIEW, { body: { branch: 'agent/x' } });
    const { statusId, previewUrl } = body as { statusId: string; previewUrl: string };
    expect([status, new URL(previewUrl).pathname]).toEqual([202, '/previews/agent%2Fx']);
    const poll = async () => ((await call('GET', `${STATUS}/${statusId}`)).body as { status: string }).status;
    expect(await poll()).toBe('queued');
    clock.ms += 1000;
    expect(await poll()).toBe('in_progress');
    clock.ms += 2000;
    expect(await poll()).toBe('success');
    const page = await platform.fetch(previewUrl);
    expect(await page.text()).toContain('agent/x');
    expect((await platform.fetch(previewUrl.replace('agent', 'other'))).status).toBe(404);
  });

  test('fail with logs', async () => {
    const { platform, call } = standIn();
    const { body } = await call('POST', UPDATE);
    platform.site.fail(['Error: cannot parse guides/x.mdx'], 'Parse error');
    const { statusId } = body as { statusId: string };
    expect((await call('GET', `${STATUS}/${statusId}`)).body).toMatchObject({
      ...{ status: 'failure', summary: 'Parse error', commit: { ref: 'main' } },
      logs: expect.arrayContaining(['Error: cannot parse guides/x.mdx']),
    });
  });

  test('a minute has five previews, ten seconds have ten updates', async () => {
    const { clock, call } = standIn();
    const statuses = async (path: string, count: number, body?: object) => {
      const found: number[] = [];
      for (let n = 0; n < count; n += 1) found.push((await call('POST', path, body && { body })).status);
      return found;
    };
    expect(await statuses(PREVIEW, 6, { branch: 'main' })).toEqual([202, 202, 202, 202, 202, 429]);
    expect(await statuses(UPDATE, 11)).toEqual([...Array.from({ length: 10 }, () => 202), 429]);
    clock.ms += 10_000;
    expect(await statuses(UPDATE, 1)).toEqual([202]);
    clock.ms += 50_000;
    expect(await statuses(PREVIEW, 1, { branch: 'main' })).toEqual([202]);
  });

  test('a platform without them, or a plan without previews', async () => {
    const { platform, call } = standIn();
    platform.previews = false;
    expect((await call('POST', PREVIEW, { body: { branch: 'main' } })).status).toBe(403);
    platform.buildSites = 405;
    expect((await call('POST', UPDATE)).status).toBe(405);
    expect(standIn({ additions: false }).platform.buildSites).toBe(404);
  });
});
