import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answering, clientOf, errorOf, httpServer, KEY, tcpServer } from '../support/docs-api/servers.ts';

describe('a request', () => {
  test.each(['/v1', '/v2/', '/V1', '//v1//'])(
    'goes to a base address with %s as to one without',
    async (end) => {
      const server = await answering(200, { jobId: 'se_1' });
      for (const base of ['', '/base']) {
        await clientOf(`${server.url}${base}${end}`).startExport({ domain: 'docs.acme.com' });
        expect(server.requests.at(-1)?.line).toBe(`POST ${base}/v1/static-export/jobs`);
      }
    },
  );

  test('carries the key, and a body only where there is one', async () => {
    const server = await answering(200, { jobId: 'se_1', bundleUrl: 'https://files.test/b' });
    const api = clientOf(`${server.url}/base/`);
    await api.startExport({ domain: 'docs.acme.com', version: 'v2', paths: ['/', '/a', 'b/c/'] });
    await api.createBundle({ jobId: 'se_1' });
    const [start, bundle] = server.requests;
    expect(start?.line).toBe('POST /base/v1/static-export/jobs');
    expect(start?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
    });
    expect(JSON.parse(start?.body ?? '')).toEqual({
      domain: 'docs.acme.com',
      version: 'v2',
      paths: ['index', 'a', 'b/c'],
    });
    expect(bundle?.headers).not.toHaveProperty('content-type');
    expect(bundle?.body).toBe('');
  });

  test('asks each of the analytics at its own address', async () => {
    const server = await answering(200, {});
    const api = clientOf(server.url);
    const dates = { projectId: 'p', dateFrom: '2026-09-14', dateTo: '2026-09-21' };
    await errorOf(api.getVisitors({ ...dates, limit: 1 }));
    await errorOf(api.getSearches({ ...dates, limit: 100, cursor: 'a=b&c' }));
    await errorOf(api.getFeedbackByPage({ ...dates, limit: 100 }));
    await errorOf(api.getAssistantConversations({ ...dates, limit: 1000, cursor: '01K5' }));
    const query = '?dateFrom=2026-09-14&dateTo=2026-09-21&limit=';
    expect(server.requests.map(({ line }) => line)).toEqual([
      `GET /v1/analytics/p/visitors${query}1`,
      `GET /v1/analytics/p/searches${query}100&cursor=a%3Db%26c`,
      `GET /v1/analytics/p/feedback/by-page${query}100`,
      `GET /v1/analytics/p/assistant${query}1000&cursor=01K5`,
    ]);
  });

  test('that the platform could only refuse is not sent', async () => {
    const server = await answering(200, {});
    const api = clientOf(server.url);
    const bad = [
      () => api.startExport({ domain: '' }),
      () => api.sendFollowUp({ projectId: 'p', jobId: 'j', prompt: '' }),
      () => api.createAgentJob({ projectId: 'p', prompt: '' }),
      () => api.getPageViews({ projectId: 'p', limit: 0 }),
      () => api.getPageViews({ projectId: 'p', limit: 251 }),
      () => api.getPageViews({ projectId: 'p', limit: 1.5 }),
      () => api.getPageViews({ projectId: 'p', offset: -1 }),
      () => api.getVisitors({ projectId: 'p', limit: 251 }),
      () => api.getSearches({ projectId: 'p', limit: 101 }),
      () => api.getSearches({ projectId: 'p', cursor: '' }),
      () => api.getFeedbackByPage({ projectId: 'p', limit: 101 }),
      () => api.getAssistantConversations({ projectId: 'p', limit: 1001 }),
    ];
    for (const call of bad)
      expect(await errorOf(call())).toMatchObject({ kind: 'bad_request', happened: 'no' });
    expect(server.requests).toEqual([]);
  });
});

describe('an id', () => {
  test.each([
    '',
    ' ',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    'a%2Fb',
    'a%5cb',
    'a/../b',
    'a\\..\\b',
    'a//b',
    '%2e%2e',
    '..%2fx',
    'a\nb',
    '\uD800',
    'x'.repeat(513),
  ])('%j is not sent', async (id) => {
    const server = await answering(200, { status: 'running' });
    expect(await errorOf(clientOf(server.url).getExport({ jobId: id }))).toMatchObject({
      kind: 'bad_request',
      happened: 'no',
    });
    expect(server.requests).toEqual([]);
  });

  test.each([
    ['a?b#c', 'a%3Fb%23c'],
    ['a%2eb', 'a%252eb'],
    ['é&=+', '%C3%A9%26%3D%2B'],
    ['...', '...'],
  ])('%j is sent as %s', async (id, path) => {
    const server = await answering(200, { status: 'running' });
    await clientOf(server.url).getExport({ jobId: id });
    expect(server.requests[0]?.line).toBe(`GET /v1/static-export/jobs/${path}`);
  });

  test('never changes the path, whatever it is', async () => {
    const server = await answering(200, { status: 'running' });
    const api = clientOf(server.url);
    const piece = fc.constantFrom('.', '..', '/', '\\', '?', '#', '%2e', '%2F', 'a', ':', '@', ';', '\u0000');
    const id = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 6 }).map((list) => list.join('')),
    );
    await fc.assert(
      fc.asyncProperty(id, async (jobId) => {
        const before = server.requests.length;
        const sent = await api.getExport({ jobId }).then(
          () => true,
          () => false,
        );
        expect(server.requests.length - before).toBe(sent ? 1 : 0);
        if (!sent) return;
        const [, path = ''] = server.requests.at(-1)?.line.split(' ') ?? [];
        const url = new URL(path, 'http://x');
        expect(url.pathname).toBe(path);
        expect(path.slice('/v1/static-export/jobs/'.length)).not.toMatch(/[/?#]/);
        expect(decodeURIComponent(path.slice('/v1/static-export/jobs/'.length))).toBe(jobId);
      }),
      { numRuns: 500 },
    );
  });
});

describe('no error holds the key or a link', () => {
  const LINK = 'https://files.test/b.tar.gz?X-Signature=s3cr3t';
  const echo = `your ${KEY} and ${LINK}`;
  const json = (status: number, body: unknown) => () => answering(status, body);
  const raw = (text: string) => () => tcpServer((socket) => socket.on('data', () => socket.end(text)));
  const cases: [string, () => Promise<{ url: string }>][] = [
    ...[400, 401, 403, 404, 409, 429, 500, 302].map((status): [string, () => Promise<{ url: string }>] => [
      `status ${status}`,
      json(status, { error: echo }),
    ]),
    ['an error that is an object', json(400, { error: { message: echo } })],
    ['a redirect', () => answering(302, {}, { location: LINK })],
    ['a body that is no JSON', json(200, echo)],
    ['an answer of another shape', json(200, { bundleUrl: { link: LINK }, [KEY]: LINK })],
    ['a link that is none', json(200, { bundleUrl: `x${LINK} ${KEY}` })],
    ['no HTTP', raw(`${echo}\r\n`)],
    ['a header that cannot be read', raw(`HTTP/1.1 200 OK\r\n${LINK}\u0000${KEY}\r\n\r\n`)],
    ['a body that breaks off', raw(`HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n${echo}`)],
    ['silence', () => httpServer(() => {})],
    ['a reset', () => tcpServer((socket) => socket.on('data', () => socket.resetAndDestroy()))],
  ];

  test.each(cases)('%s', async (_, serve) => {
    const server = await serve();
    const error = await errorOf(
      clientOf(server.url, { timeoutMs: 400 }).createBundle({ jobId: 'se_private' }),
    );
    const shown = [
      String(error),
      error.stack,
      JSON.stringify(error),
      inspect(error, { depth: 9 }),
      inspect(error.cause),
    ];
    for (const text of shown) expect(text).not.toMatch(/0123456789abcdef|s3cr3t/);
    expect(error.message).not.toContain('se_private');
    expect(error.message).toContain('/v1/static-export/jobs/{jobId}/bundle');
  });
});
