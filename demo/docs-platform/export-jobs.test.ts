import { gunzipSync } from 'node:zlib';
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

  test('a body that is not said to be JSON: 400', async () => {
    const { call } = standIn();
    const answer = await call('POST', '/v1/static-export/jobs', {
      body: '{"domain":"docs.acme.com"}',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(400);
  });

  test('without the plan: 403', async () => {
    const { platform, start } = standIn({ enterprise: false });
    expect((await start()).status).toBe(403);
    platform.enterprise = true;
    expect((await start()).status).toBe(202);
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

  test('fails where its plan says', async () => {
    const { platform, clock, start, poll } = standIn();
    platform.plan({ failAt: 0.6, error: 'Page guides/x failed to render' });
    platform.plan({ failAt: 0.6, error: null });
    const first = (await start()).body.jobId;
    const second = (await start()).body.jobId;
    clock.ms += 599;
    expect(await poll(first)).toMatchObject({ status: 'running', error: null });
    clock.ms += 9999;
    expect(await poll(first)).toMatchObject({
      status: 'failed',
      progress: 60,
      error: 'Page guides/x failed to render',
    });
    expect(await poll(second)).toMatchObject({ status: 'failed', error: null });
  });

  test.each([
    ['percent', 42],
    ['fraction', 0.42],
    ['percent-text', '42%'],
    ['fraction-text', '0.42'],
    ['object', { done: 42, total: 100 }],
    ['text', 'rendering pages'],
    ['none', undefined],
    ['stuck', 10],
    ['backwards', 58],
  ] as const)('spells progress as %s', async (progress, shown) => {
    const { platform, start, poll } = standIn();
    platform.plan({ progress, pages: 100 });
    platform.hold('docs.acme.com', 0.42);
    const { jobId } = (await start()).body;
    expect((await poll(jobId)).progress).toEqual(shown);
  });

  test('spells counts, dates and its status in other ways', async () => {
    const { platform, start, poll } = standIn();
    platform.hold('docs.acme.com', 0.5);
    platform.plan({ pageCount: 'text', dates: 'seconds', runningStatus: 'packaging' });
    const { jobId } = (await start()).body;
    expect(await poll(jobId)).toMatchObject({
      status: 'packaging',
      pageCount: '6',
      createdAt: START_MS / 1000,
    });
  });

  test('takes a plan made for its domain only', async () => {
    const { platform, start } = standIn({ domains: ['docs.acme.com', 'docs.other.com'] });
    platform.plan({ domain: 'docs.other.com', pages: 99 });
    platform.hold('docs.acme.com', 1);
    platform.hold('docs.other.com', 1);
    const acme = (await start()).body.jobId;
    const other = (await start({ domain: 'docs.other.com' })).body.jobId;
    expect(platform.exports.get(acme)?.pagesDone).toBe(12);
    expect(platform.exports.get(other)?.pagesDone).toBe(99);
  });

  test('is held, released, finished and failed by hand', async () => {
    const { platform, clock, start, poll } = standIn();
    platform.hold('docs.acme.com', 0.37);
    const { jobId } = (await start()).body;
    clock.ms += 99_000;
    expect(await poll(jobId)).toMatchObject({ status: 'running', progress: 37 });
    platform.release(jobId);
    expect(await poll(jobId)).toMatchObject({ status: 'running', progress: 37 });
    clock.ms += 100;
    expect(await poll(jobId)).toMatchObject({ progress: 47 });
    platform.hold(jobId);
    clock.ms += 99_000;
    expect(await poll(jobId)).toMatchObject({ progress: 47 });
    platform.finish('docs.acme.com');
    expect(await poll(jobId)).toMatchObject({ status: 'completed', progress: 100 });
    expect(() => platform.finish(jobId)).toThrow('no running export');
    expect(() => platform.hold(jobId)).toThrow('has ended');

    platform.hold('docs.acme.com', 0.61);
    const next = (await start()).body.jobId;
    platform.fail('docs.acme.com', null);
    expect(await poll(next)).toMatchObject({ status: 'failed', progress: 61, error: null });
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

  test('is unknown: 404', async () => {
    const { platform, start, call, bundle } = standIn();
    expect((await call('GET', '/v1/static-export/jobs/se_none')).status).toBe(404);
    expect((await bundle('se_none')).status).toBe(404);
    const { jobId } = (await start()).body;
    platform.forget(jobId);
    expect((await call('GET', `/v1/static-export/jobs/${jobId}`)).status).toBe(404);
  });
});

describe('a bundle', () => {
  async function completed(body?: unknown, options?: StandInPlatformOptions) {
    const parts = standIn(options);
    const { jobId } = (await parts.start(body)).body;
    parts.platform.finish(jobId);
    return { ...parts, jobId };
  }

  test('is not there before the job has completed: 409', async () => {
    const { platform, start, bundle } = standIn();
    const { jobId } = (await start()).body;
    expect((await bundle(jobId)).status).toBe(409);
    platform.fail(jobId);
    expect((await bundle(jobId)).status).toBe(409);
  });

  test('wants no body: 400', async () => {
    const { jobId, call } = await completed();
    expect((await call('POST', `/v1/static-export/jobs/${jobId}/bundle`, { body: {} })).status).toBe(400);
  });

  test('is a gzipped tar of the size that was reported', async () => {
    const { platform, jobId, bundle } = await completed({
      domain: 'docs.acme.com',
      paths: ['guides/a', 'b'],
    });
    const { body } = await bundle(jobId);
    const file = Buffer.from(await (await platform.fetch(body.bundleUrl)).arrayBuffer());
    expect(file).toHaveLength(body.sizeBytes);
    const files = untar(gunzipSync(file));
    expect([...files.keys()]).toEqual([
      'index.html',
      'assets/style.css',
      'guides/a/index.html',
      'b/index.html',
    ]);
    expect(files.get('guides/a/index.html')).toContain('<h1>guides/a · docs.acme.com</h1>');
    expect(files.get('guides/a/index.html')).toContain('href="../../assets/style.css"');
  });

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

  test('link spells its end in other ways', async () => {
    const { platform, jobId, bundle } = await completed(undefined, { exportPlan: { dates: 'none' } });
    expect((await bundle(jobId)).body).not.toHaveProperty('expiresAt');
    expect(platform.exports.get(jobId)?.status).toBe('completed');
  });
});

/** Reads a tar as the format is written: 512-byte headers with a checksum, contents padded, two empty blocks. */
function untar(tar: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  let at = 0;
  while (tar[at] !== 0) {
    const header = tar.subarray(at, at + 512);
    const text = (from: number, length: number) =>
      header.toString('latin1', from, from + length).replace(/[\0 ]+$/, '');
    const summed = Buffer.concat([header.subarray(0, 148), Buffer.from(' '.repeat(8)), header.subarray(156)]);
    expect(Number.parseInt(text(148, 8), 8)).toBe(summed.reduce((sum, byte) => sum + byte, 0));
    expect(text(257, 5)).toBe('ustar');
    const size = Number.parseInt(text(124, 12), 8);
    files.set(text(0, 100), tar.toString('utf8', at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  expect(tar.subarray(at)).toEqual(Buffer.alloc(1024));
  return files;
}
