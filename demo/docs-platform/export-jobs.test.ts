import { describe, expect, test } from 'vitest';
import { START_MS, standIn } from '../test-support/platform.ts';
import type { StandInPlatformOptions } from './platform.ts';

describe('starting an export', () => {
  test.each([
    ['no domain', {}],
    ['a scheme', { domain: 'https://docs.acme.com' }],
    ['a slash at the end', { domain: 'docs.acme.com/' }],
    ['a path', { domain: 'docs.acme.com/v2' }],
    ['an unknown domain', { domain: 'docs.other.com' }],
    ['a number', { domain: 7 }],
    ['an unknown field', { domain: 'docs.acme.com', force: true }],
    ['an empty version', { domain: 'docs.acme.com', version: '' }],
    ['no paths', { domain: 'docs.acme.com', paths: [] }],
    ['a path with a slash before it', { domain: 'docs.acme.com', paths: ['/guides'] }],
    ['a path with a slash behind it', { domain: 'docs.acme.com', paths: ['guides/'] }],
    ['a path that climbs', { domain: 'docs.acme.com', paths: ['../etc'] }],
    ['the address of a page', { domain: 'docs.acme.com', paths: ['https://docs.acme.com/guides'] }],
    ['no JSON', '{"domain":'],
    ['a list', []],
  ])('%s: 400', async (_, body) => {
    const { platform, start } = standIn();
    expect(await start(body)).toMatchObject({ status: 400, body: { error: expect.any(String) } });
    expect(platform.starts).toEqual([]);
  });

  test('answers 202 with the whole record, queued', async () => {
    const { platform, start } = standIn();
    const answer = await start({ domain: 'docs.acme.com', version: 'v2', paths: ['index', 'b/c'] });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      jobId: platform.starts[0]?.jobId,
      status: 'queued',
      progress: 0,
      pageCount: 0,
      createdAt: '2026-09-21T12:00:00.000Z',
      updatedAt: '2026-09-21T12:00:00.000Z',
      error: null,
    });
    expect(platform.wire.calls[0]).toMatchObject({
      name: 'POST /v1/static-export/jobs',
      detail: { body: { domain: 'docs.acme.com', version: 'v2', paths: ['index', 'b/c'] } },
      outcome: '202',
    });
    expect(JSON.stringify(platform.wire.calls)).not.toContain(platform.apiKey);
  });
});

describe('an export job', () => {
  test('is a function of its plan and the clock', async () => {
    const { platform, clock, start, poll } = standIn();
    platform.plan({ queuedMs: 1000, durationMs: 10_000, pages: 40 });
    const { jobId } = (await start()).body;
    const seen: unknown[] = [];
    for (const ms of [500, 1000, 6000, 10_999, 11_000, 99_000]) {
      clock.ms = START_MS + ms;
      const { status, progress, pageCount } = await poll(jobId);
      seen.push([status, progress, pageCount]);
    }
    expect(seen).toEqual([
      ['queued', 0, 0],
      ['running', 0, 0],
      ['running', 50, 20],
      ['running', 100, 39],
      ['completed', 100, 40],
      ['completed', 100, 40],
    ]);
    expect((await poll(jobId)).updatedAt).toBe('2026-09-21T12:00:11.000Z');
    clock.ms = START_MS + 6000;
    expect(platform.exports.get(jobId)).toMatchObject({ status: 'running', fraction: 0.5, pagesDone: 20 });
  });

  test('shows only what the contract shows when asked so', async () => {
    const { clock, start, poll, call } = standIn({ additions: false });
    const started = await start();
    expect(started).toMatchObject({ status: 200, body: { jobId: expect.any(String) } });
    expect(Object.keys(started.body)).toEqual(['jobId']);
    expect(Object.keys(await poll(started.body.jobId))).toEqual(['status', 'progress', 'pageCount']);
    clock.ms += 1000;
    expect(await poll(started.body.jobId)).toEqual({ status: 'completed' });
    const link = await call('POST', `/v1/static-export/jobs/${started.body.jobId}/bundle`);
    expect(Object.keys(link.body)).toEqual(['bundleUrl', 'expiresAt']);
    expect((await start({ domain: 'docs.acme.com', version: 'v2' })).status).toBe(400);
  });
});

describe('a bundle', () => {
  async function completed(body?: unknown, options?: StandInPlatformOptions) {
    const parts = standIn(options);
    const { jobId } = (await parts.start(body)).body;
    parts.platform.finish(jobId);
    return { ...parts, jobId };
  }

  test('has a link that ends, and may be asked for again', async () => {
    const { platform, clock, jobId, bundle } = await completed();
    platform.linkLifeMs = 1500;
    const { bundleUrl, expiresAt } = (await bundle(jobId)).body;
    expect(Date.parse(expiresAt)).toBe(clock.ms + 1500);
    clock.ms += 1499;
    expect((await platform.fetch(bundleUrl)).status).toBe(200);
    clock.ms += 1;
    expect((await platform.fetch(bundleUrl)).status).toBe(403);
    const fresh = (await bundle(jobId)).body.bundleUrl;
    expect(fresh).not.toBe(bundleUrl);
    expect((await platform.fetch(fresh)).status).toBe(200);
  });

  test.each([
    ['without a signature', (url: URL) => url.searchParams.delete('X-Signature')],
    ['with another signature', (url: URL) => url.searchParams.set('X-Signature', '0'.repeat(64))],
    ['with a later end', (url: URL) => url.searchParams.set('X-Expires', String(START_MS * 2))],
    ['for another job', (url: URL) => Object.assign(url, { pathname: '/bundles/se_other.tar.gz' })],
  ])('cannot be had %s', async (_, change) => {
    const { platform, jobId, bundle } = await completed();
    const url = new URL((await bundle(jobId)).body.bundleUrl);
    change(url);
    expect((await platform.fetch(url)).status).toBe(403);
    expect(JSON.stringify(platform.wire.calls)).not.toContain('X-Signature');
  });
});
