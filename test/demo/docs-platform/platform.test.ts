import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform, type StandInPlatformOptions } from '../../../demo/docs-platform/platform.ts';

const START_MS = Date.UTC(2026, 8, 21, 12);
const HOUR_MS = 3_600_000;

function standIn(options: StandInPlatformOptions = {}) {
  const clock = { ms: START_MS };
  const platform = createStandInPlatform({ nowMs: () => clock.ms, ...options });
  const auth = { authorization: `Bearer ${platform.apiKey}` };

  async function call(method: 'GET' | 'POST', path: string, init: { body?: unknown; headers?: object } = {}) {
    const { body, headers } = init;
    const answer = await platform.fetch(`http://docs.test${path}`, {
      method,
      headers: { ...auth, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) };
  }

  const start = (body: unknown = { domain: 'docs.acme.com' }) =>
    call('POST', '/v1/static-export/jobs', { body });
  const look = async (jobId: string) => (await call('GET', `/v1/static-export/jobs/${jobId}`)).body;
  const bundle = (jobId: string) => call('POST', `/v1/static-export/jobs/${jobId}/bundle`);
  const job = `/v2/agent/${platform.projectId}/job`;
  const say = (jobId: string, body: unknown = { prompt: 'x' }) =>
    call('POST', `${job}/${jobId}/message`, { body });
  const views = (query = '') => call('GET', `/v1/analytics/${platform.projectId}/views${query}`);
  return { platform, clock, call, start, look, bundle, job, say, views };
}

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
    ['a path without a slash', { domain: 'docs.acme.com', paths: ['guides'] }],
    ['a path that climbs', { domain: 'docs.acme.com', paths: ['/../etc'] }],
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
    const answer = await start({ domain: 'docs.acme.com', version: 'v2', paths: ['/a', '/b/c'] });
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
      detail: { body: { domain: 'docs.acme.com', version: 'v2', paths: ['/a', '/b/c'] } },
      outcome: '202',
    });
    expect(JSON.stringify(platform.wire.calls)).not.toContain(platform.apiKey);
  });
});

describe('an export job', () => {
  test('is a function of its plan and the clock', async () => {
    const { platform, clock, start, look } = standIn();
    platform.plan({ queuedMs: 1000, durationMs: 10_000, pages: 40 });
    const { jobId } = (await start()).body;
    const seen: unknown[] = [];
    for (const ms of [500, 1000, 6000, 10_999, 11_000, 99_000]) {
      clock.ms = START_MS + ms;
      const { status, progress, pageCount } = await look(jobId);
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
    expect((await look(jobId)).updatedAt).toBe('2026-09-21T12:00:11.000Z');
    clock.ms = START_MS + 6000;
    expect(platform.exports.get(jobId)).toMatchObject({ status: 'running', fraction: 0.5, pagesDone: 20 });
  });

  test('fails where its plan says', async () => {
    const { platform, clock, start, look } = standIn();
    platform.plan({ failAt: 0.6, error: 'Page guides/x failed to render' });
    platform.plan({ failAt: 0.6, error: null });
    const first = (await start()).body.jobId;
    const second = (await start()).body.jobId;
    clock.ms += 599;
    expect(await look(first)).toMatchObject({ status: 'running', error: null });
    clock.ms += 9999;
    expect(await look(first)).toMatchObject({
      status: 'failed',
      progress: 60,
      error: 'Page guides/x failed to render',
    });
    expect(await look(second)).toMatchObject({ status: 'failed', error: null });
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
    const { platform, start, look } = standIn();
    platform.plan({ progress, pages: 100 });
    platform.hold('docs.acme.com', 0.42);
    const { jobId } = (await start()).body;
    expect((await look(jobId)).progress).toEqual(shown);
  });

  test('spells counts, dates and its status in other ways', async () => {
    const { platform, start, look } = standIn();
    platform.hold('docs.acme.com', 0.5);
    platform.plan({ pageCount: 'text', dates: 'seconds', runningStatus: 'packaging' });
    const { jobId } = (await start()).body;
    expect(await look(jobId)).toMatchObject({
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
    const { platform, clock, start, look } = standIn();
    platform.hold('docs.acme.com', 0.37);
    const { jobId } = (await start()).body;
    clock.ms += 99_000;
    expect(await look(jobId)).toMatchObject({ status: 'running', progress: 37 });
    platform.release(jobId);
    expect(await look(jobId)).toMatchObject({ status: 'running', progress: 37 });
    clock.ms += 100;
    expect(await look(jobId)).toMatchObject({ progress: 47 });
    platform.hold(jobId);
    clock.ms += 99_000;
    expect(await look(jobId)).toMatchObject({ progress: 47 });
    platform.finish('docs.acme.com');
    expect(await look(jobId)).toMatchObject({ status: 'completed', progress: 100 });
    expect(() => platform.finish(jobId)).toThrow('no running export');
    expect(() => platform.hold(jobId)).toThrow('has ended');

    platform.hold('docs.acme.com', 0.61);
    const next = (await start()).body.jobId;
    platform.fail('docs.acme.com', null);
    expect(await look(next)).toMatchObject({ status: 'failed', progress: 61, error: null });
  });

  test('shows only what the contract shows when asked so', async () => {
    const { clock, start, look, call } = standIn({ additions: false });
    const started = await start();
    expect(started).toMatchObject({ status: 200, body: { jobId: expect.any(String) } });
    expect(Object.keys(started.body)).toEqual(['jobId']);
    expect(Object.keys(await look(started.body.jobId))).toEqual(['status', 'progress', 'pageCount']);
    clock.ms += 1000;
    expect(await look(started.body.jobId)).toEqual({ status: 'completed' });
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

  test('is a gzipped tar of the size that was told', async () => {
    const { platform, jobId, bundle } = await completed({
      domain: 'docs.acme.com',
      paths: ['/guides/a', '/b'],
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
    expect(files.get('guides/a/index.html')).toContain('<h1>/guides/a · docs.acme.com</h1>');
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

describe('agent jobs', () => {
  test.each([
    ['no prompt', {}],
    ['an empty prompt', { prompt: '' }],
    ['a prompt that is no text', { prompt: 7 }],
    ['an unknown field', { prompt: 'x', model: 'y' }],
    ['no JSON', 'x'],
  ])('%s: 400', async (_, body) => {
    const { platform, say, call, job } = standIn();
    expect((await say(platform.agent.add(), body)).status).toBe(400);
    expect((await call('POST', job, { body })).status).toBe(400);
    expect(platform.agent.messages).toEqual([]);
    expect(platform.used.followUps()).toBe(0);
  });

  test('an unknown job or project: 404', async () => {
    const { platform, say, call, job } = standIn();
    const jobId = platform.agent.add();
    expect((await say('aj_none')).status).toBe(404);
    expect((await call('GET', `${job}/aj_none`)).status).toBe(404);
    expect((await call('GET', `/v2/agent/prj_other/job/${jobId}`)).status).toBe(404);
    expect((await call('POST', '/v2/agent/prj_other/job', { body: { prompt: 'x' } })).status).toBe(404);
  });

  test('go from active to their end by the clock; no pull request is shown meanwhile', async () => {
    const { platform, clock, say, call, job } = standIn();
    const jobId = platform.agent.add();
    const look = async () => (await call('GET', `${job}/${jobId}`)).body;
    expect(await look()).toMatchObject({
      status: 'completed',
      prLink: 'https://github.com/acme/docs/pull/100',
    });
    platform.agent.plan({ durationMs: 5000 });
    expect((await say(jobId)).body).toMatchObject({ id: jobId, status: 'active', prLink: null });
    clock.ms += 4999;
    expect(await look()).toMatchObject({ status: 'active', prLink: null });
    clock.ms += 1;
    expect(await look()).toMatchObject({
      status: 'completed',
      prLink: 'https://github.com/acme/docs/pull/101',
    });
  });

  test('may read as before for a while after an instruction', async () => {
    const { platform, clock, say, call, job } = standIn();
    const jobId = platform.agent.add();
    platform.agent.plan({ idleMs: 3000 });
    expect((await say(jobId)).body).toMatchObject({
      status: 'completed',
      prLink: expect.stringContaining('/100'),
    });
    clock.ms += 3000;
    expect((await call('GET', `${job}/${jobId}`)).body).toMatchObject({ status: 'active' });
  });

  test.each([
    ['new_pr', { status: 'completed', prLink: 'https://github.com/acme/docs/pull/101' }],
    ['same_pr', { status: 'completed', prLink: 'https://github.com/acme/docs/pull/100' }],
    ['no_pr', { status: 'completed', prLink: null }],
    ['failed', { status: 'failed', prLink: null }],
  ] as const)('end with %s', async (outcome, shown) => {
    const { platform, clock, say } = standIn();
    const byClock = platform.agent.add();
    const byHand = platform.agent.add();
    platform.agent.plan({ jobId: byClock, outcome });
    platform.agent.plan({ jobId: byHand, hold: true });
    await say(byClock);
    clock.ms += 1000;
    expect(platform.agent.jobs.get(byClock)).toMatchObject(shown);
    await say(byHand);
    clock.ms += HOUR_MS;
    expect(platform.agent.jobs.get(byHand)?.status).toBe('active');
    platform.agent.finish(byHand, outcome);
    expect(platform.agent.jobs.get(byHand)?.status).toBe(shown.status);
  });

  test('tell when an instruction came while one was worked on', async () => {
    const { platform, say } = standIn();
    const jobId = platform.agent.add();
    await say(jobId, { prompt: 'one' });
    await say(jobId, { prompt: 'two' });
    expect(platform.agent.messages.map(({ prompt, whileActive }) => [prompt, whileActive])).toEqual([
      ['one', false],
      ['two', true],
    ]);
  });

  test('take no instruction once archived: 400', async () => {
    const { platform, say } = standIn();
    const jobId = platform.agent.add();
    platform.agent.archive(jobId);
    expect((await say(jobId)).status).toBe(400);
    expect(platform.agent.jobs.get(jobId)).toMatchObject({
      status: 'archived',
      archivedAt: '2026-09-21T12:00:00.000Z',
    });
  });

  test('are created where the platform can: 201', async () => {
    const { platform, call, job } = standIn();
    const created = await call('POST', job, { body: { prompt: 'Write a quickstart' } });
    expect(created).toMatchObject({ status: 201, body: { status: 'active', prLink: null } });
    expect(platform.agent.messages).toMatchObject([{ jobId: created.body.id, prompt: 'Write a quickstart' }]);
  });

  test.each([404, 405] as const)('are not created where it cannot: %s', async (createAgentJobs) => {
    const { platform, call, job } = standIn({ createAgentJobs });
    expect((await call('POST', job, { body: { prompt: 'x' } })).status).toBe(createAgentJobs);
    expect(platform.agent.jobs.size).toBe(0);
  });

  test('take 100 instructions in an hour: 429', async () => {
    const { platform, clock, say } = standIn();
    const jobId = platform.agent.add();
    for (let n = 0; n < 100; n += 1) {
      clock.ms += 1000;
      expect((await say(jobId)).status).toBe(200);
    }
    const refused = await say(jobId);
    expect(refused.status).toBe(429);
    expect(refused.headers.has('retry-after')).toBe(false);
    expect(platform.agent.messages).toHaveLength(100);
    clock.ms = START_MS + 1000 + HOUR_MS;
    expect((await say(jobId)).status).toBe(200);
    expect((await say(jobId)).status).toBe(429);
  });
});

describe('page views', () => {
  test.each([
    '?limit=0',
    '?limit=251',
    '?limit=1.5',
    '?limit=',
    '?offset=-1',
    '?offset=x',
    '?dateFrom=yesterday',
    '?dateTo=2026-02-30',
    '?dateTo=2026-02-30T00:00:00Z',
    '?page=2',
  ])('%s: 400', async (query) => {
    const { views } = standIn();
    expect(await views(query)).toMatchObject({ status: 400, body: { error: expect.any(String) } });
  });

  test('of another project: 404', async () => {
    const { call } = standIn();
    expect((await call('GET', '/v1/analytics/prj_other/views')).status).toBe(404);
  });

  test('come in pages of 50, in no order, and add up', async () => {
    const { platform, views } = standIn();
    const first = (await views('?dateFrom=2026-09-14&dateTo=2026-09-21')).body;
    expect(first.views).toHaveLength(50);
    const rows: { path: string; human: number; ai: number; total: number }[] = [];
    for (let offset = 0; ; offset += 100) {
      const { body } = await views(`?dateFrom=2026-09-14&dateTo=2026-09-21&limit=100&offset=${offset}`);
      rows.push(...body.views);
      expect(body.totals).toEqual(first.totals);
      if (!body.hasMore) break;
    }
    expect(new Set(rows.map(({ path }) => path)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThan(250);
    expect(rows.reduce((sum, row) => sum + row.total, 0)).toBe(first.totals.total);
    expect(first.totals.human + first.totals.ai).toBe(first.totals.total);
    expect(rows.map(({ total }) => total)).not.toEqual(
      rows.map(({ total }) => total).toSorted((a, b) => b - a),
    );
    expect(platform.views.between('2026-09-14', '2026-09-21').totals).toEqual(first.totals);
  });

  test('say that there is more only when there is', async () => {
    const { platform, views } = standIn();
    const count = platform.views.between('2026-09-14', '2026-09-21').views.length;
    const range = '?dateFrom=2026-09-14&dateTo=2026-09-21';
    expect((await views(`${range}&limit=1&offset=${count - 1}`)).body).toMatchObject({ hasMore: false });
    expect((await views(`${range}&limit=1&offset=${count - 2}`)).body).toMatchObject({ hasMore: true });
    expect((await views(`${range}&offset=${count}`)).body).toMatchObject({ hasMore: false, views: [] });
  });

  test('exclude the last day, and count each day once', async () => {
    const { platform, views } = standIn();
    platform.views.set('/launch', '2026-09-20', { human: 7, ai: 3 });
    const has = async (range: string) =>
      (await views(`${range}&limit=250`)).body.views
        .concat((await views(`${range}&limit=250&offset=250`)).body.views)
        .find((row: { path: string }) => row.path === '/launch');
    expect(await has('?dateFrom=2026-09-14&dateTo=2026-09-20')).toBeUndefined();
    expect(await has('?dateFrom=2026-09-20T00:00:00Z&dateTo=2026-09-21T00:00:00Z')).toEqual({
      path: '/launch',
      human: 7,
      ai: 3,
      total: 10,
    });
    const { between } = platform.views;
    const [a, b, both] = [
      between('2026-09-14', '2026-09-17'),
      between('2026-09-17', '2026-09-21'),
      between('2026-09-14', '2026-09-21'),
    ];
    expect(a.totals.total + b.totals.total).toBe(both.totals.total);
  });

  test('are the same for the same seed, none on silent days, none in the future', () => {
    const { platform } = standIn();
    const week = platform.views.between('2026-09-14', '2026-09-21');
    expect(standIn().platform.views.between('2026-09-14', '2026-09-21')).toEqual(week);
    expect(standIn({ seed: 'other' }).platform.views.between('2026-09-14', '2026-09-21')).not.toEqual(week);
    expect(platform.views.between('2026-09-22', '2026-10-01').totals.total).toBe(0);
    platform.views.silence('2026-09-14', '2026-09-21');
    expect(platform.views.between('2026-09-14', '2026-09-21')).toEqual({
      totals: { human: 0, ai: 0, total: 0 },
      views: [],
    });
  });

  test('are answered 100 times in an hour: 429', async () => {
    const { clock, views } = standIn({ retryAfter: true });
    for (let n = 0; n < 100; n += 1) expect((await views('?limit=251')).status).toBe(400);
    const refused = await views('?limit=1');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('3600');
    clock.ms += HOUR_MS;
    expect((await views('?limit=1&dateFrom=2026-09-20')).status).toBe(200);
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
