import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { DocsApi } from '../../src/docs-api/client.ts';
import { type DocsApiOperation, OPERATIONS, type Operation } from '../../src/docs-api/operations.ts';
import { answering, clientOf, errorOf, httpServer, KEY, tcpServer } from '../support/docs-api/servers.ts';

const start = (api: DocsApi) => api.startExport({ domain: 'docs.acme.com' });
const look = (api: DocsApi) => api.getExport({ jobId: 'se_1' });

test.each([
  ...['/v1', '/v2/', '/V1', '//v1//'].map((end) => [end, '']),
  ['/base/v1', '/base'],
  ['/v3', '/v3'],
  ['/v1/docs', '/v1/docs'],
])('a base address with %s is one with %j', async (end, base) => {
  const server = await answering(200, { jobId: 'se_1' });
  await start(clientOf(`${server.url}${end}`));
  expect(server.requests[0]?.line).toBe(`POST ${base}/v1/static-export/jobs`);
});

test('a request carries the key, and a body only where there is one', async () => {
  const server = await answering(200, { jobId: 'se_1', bundleUrl: 'https://files.test/b' });
  const api = clientOf(server.url);
  await api.startExport({ domain: 'docs.acme.com', version: 'größer', paths: ['/', '/a', 'b/c/'] });
  await api.createBundle({ jobId: 'se_1' });
  const [started, bundle] = server.requests;
  expect(started?.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
  });
  const body = { domain: 'docs.acme.com', version: 'größer', paths: ['index', 'a', 'b/c'] };
  expect(JSON.parse(started?.body ?? '')).toEqual(body);
  expect(bundle?.headers).not.toHaveProperty('content-type');
  expect(bundle?.body).toBe('');
});

const dates = { projectId: 'prj 1?2', dateFrom: '2026-09-14', dateTo: '2026-09-21' };

test.each<[string, (api: DocsApi) => Promise<unknown>]>([
  ['views', (api) => api.getPageViews({ projectId: 'prj 1?2' })],
  ['views?DATES&limit=250&offset=0', (api) => api.getPageViews({ ...dates, limit: 250, offset: 0 })],
  ['visitors?DATES&limit=1', (api) => api.getVisitors({ ...dates, limit: 1 })],
  [
    'searches?DATES&limit=100&cursor=a%3Db%26c',
    (api) => api.getSearches({ ...dates, limit: 100, cursor: 'a=b&c' }),
  ],
  ['feedback/by-page?DATES', (api) => api.getFeedbackByPage(dates)],
  ['assistant?DATES&cursor=01K5', (api) => api.getAssistantConversations({ ...dates, cursor: '01K5' })],
])('analytics are at %s', async (path, call) => {
  const server = await answering(503, {});
  expect(await errorOf(call(clientOf(server.url)))).toMatchObject({ kind: 'server', retryable: true });
  const query = path.replace('DATES', 'dateFrom=2026-09-14&dateTo=2026-09-21');
  expect(server.requests.map(({ line }) => line)).toEqual([`GET /v1/analytics/prj%201%3F2/${query}`]);
});

test('what the platform could only refuse is not sent', async () => {
  const server = await answering(200, {});
  const api = clientOf(server.url);
  for (const call of [
    api.startExport({ domain: '' }),
    api.sendFollowUp({ projectId: 'p', jobId: 'j', prompt: '' }),
    api.getPageViews({ projectId: 'p', limit: 251 }),
    api.getPageViews({ projectId: 'p', offset: -1 }),
    api.getSearches({ projectId: 'p', cursor: '' }),
    ...[
      '',
      ' ',
      '.',
      '..',
      '../x',
      'a/b',
      'a\\b',
      'a%2Fb',
      'a%5cb',
      '%2e%2e',
      'a\nb',
      '\uD800',
      'x'.repeat(513),
    ].map((jobId) => api.getExport({ jobId })),
  ])
    expect(await errorOf(call)).toMatchObject({ kind: 'bad_request', happened: 'no' });
  expect(server.requests).toEqual([]);
});

describe('an id', () => {
  test.each([
    ['a?b#c', 'a%3Fb%23c'],
    ['a%2eb', 'a%252eb'],
    ['é&=+', '%C3%A9%26%3D%2B'],
    ['...', '...'],
  ])('%j is sent as %s', async (jobId, path) => {
    const server = await answering(200, { status: 'running' });
    await clientOf(server.url).getExport({ jobId });
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

describe('an operation', () => {
  /** Input that every operation takes, each its part of it. */
  const input = {
    domain: 'docs.acme.com',
    projectId: 'p',
    jobId: 'j',
    prompt: 'x',
    statusId: 's',
    branch: 'b',
  };
  const rows = Object.entries(OPERATIONS) as [DocsApiOperation, Operation][];
  const unrepeatable: DocsApiOperation[] = [
    'startExport',
    'sendFollowUp',
    'createAgentJob',
    'previewBranch',
    'updateSite',
  ];

  test.each(rows)(
    '%s has only safe ids in its path, and says whether it is repeatable',
    async (name, row) => {
      for (const [, id = ''] of row.path.matchAll(/\{(\w+)\}/g)) {
        expect(row.input.shape).toHaveProperty(id);
        expect(row.input.safeParse({ ...input, [id]: '../x' }).success).toBe(false);
      }
      for (const status of [408, 429, 500, 503]) {
        const server = await answering(status, {}, { 'retry-after': '0' });
        // A 503 that says when to come back has started no export.
        const isRefusal = status === 429 || (status === 503 && name === 'startExport');
        const retryable = isRefusal || !unrepeatable.includes(name);
        expect(await errorOf(clientOf(server.url)[name](input))).toMatchObject({ retryable });
        expect(server.requests).toHaveLength(1);
      }
      const server = await tcpServer((socket) => socket.on('data', () => socket.destroy()));
      const error = await errorOf(clientOf(server.url)[name](input));
      expect(error).toMatchObject({
        kind: 'connection',
        happened: 'unknown',
        retryable: !unrepeatable.includes(name),
      });
      expect(server.sockets).toHaveLength(1);
    },
  );

  test('never meets a kept connection, which may be closed already', async () => {
    const server = await tcpServer((socket) => {
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        const body = '{"jobId":"se_1","status":"running"}';
        if (requests > 1) socket.resetAndDestroy();
        else
          socket.write(
            `HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
          );
      });
    });
    const api = clientOf(server.url);
    await look(api);
    for (let n = 0; n < 3; n += 1) expect(await start(api)).toMatchObject({ jobId: 'se_1' });
  });
});

describe('a call ends', () => {
  const limited = { timeoutMs: 300 };

  test('unknown, without headers in time', async () => {
    const server = await httpServer(() => {});
    const error = await errorOf(start(clientOf(server.url, limited)));
    expect(error).toMatchObject({
      kind: 'timeout',
      happened: 'unknown',
      retryable: false,
      status: undefined,
    });
    expect(server.requests).toHaveLength(1);
  });

  test.each([0, 20])('unknown, with a body that drips every %i ms', async (everyMs) => {
    const server = await httpServer((_, response) => {
      response.writeHead(202, { 'content-type': 'application/json' }).write('{"jobId":');
      const drip = setInterval(() => everyMs > 0 && response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const error = await errorOf(start(clientOf(server.url, limited)));
    expect(error).toMatchObject({ kind: 'timeout', status: 202, happened: 'unknown' });
  });

  test('with what its status proves, though the body of the error hangs', async () => {
    const server = await httpServer((_, response) => void response.writeHead(422).write('{'));
    const error = await errorOf(start(clientOf(server.url, limited)));
    expect(error).toMatchObject({ kind: 'bad_request', status: 422, happened: 'no' });
  });

  test('unknown, if it is cancelled after it was sent', async () => {
    const server = await httpServer(() => {});
    const stop = new AbortController();
    const call = errorOf(
      clientOf(server.url).startExport({ domain: 'docs.acme.com' }, { signal: stop.signal }),
    );
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    stop.abort();
    expect(await call).toMatchObject({ kind: 'aborted', happened: 'unknown', retryable: false });
  });

  test('before it is sent, if it is cancelled, too late or its client is closed', async () => {
    const server = await answering(200, { status: 'running' });
    const api = clientOf(server.url);
    const input = { domain: 'docs.acme.com' };
    const aborted = { kind: 'aborted', happened: 'no' };
    const isTooLate = vi.fn(() => true);
    expect(await errorOf(api.startExport(input, { isTooLate }))).toMatchObject(aborted);
    expect(isTooLate).toHaveBeenCalledOnce();
    expect(await errorOf(api.startExport(input, { signal: AbortSignal.abort() }))).toMatchObject(aborted);
    await api.close();
    expect(await errorOf(look(api))).toMatchObject(aborted);
    expect(server.requests).toEqual([]);
  });

  test('unknown, with an answer that is announced as too large', async () => {
    const server = await answering(202, { jobId: 'x'.repeat(10_000_001) });
    const error = await errorOf(start(clientOf(server.url)));
    expect(error).toMatchObject({ kind: 'unreadable', status: 202, happened: 'unknown', retryable: false });
  });

  test('at the limit of an endless answer, whose connection is closed', async () => {
    const closed = Promise.withResolvers<void>();
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const pour = setInterval(() => response.write('x'.repeat(1_000_000)), 1);
      response.on('close', () => {
        clearInterval(pour);
        closed.resolve();
      });
    });
    expect(await errorOf(look(clientOf(server.url)))).toMatchObject({ kind: 'unreadable', status: 200 });
    await closed.promise;
  });

  test.each([301, 302, 303, 307, 308])('at a redirect (%s): the key stays here', async (status) => {
    const elsewhere = await answering(200, { status: 'running' });
    const server = await answering(status, {}, { location: `${elsewhere.url}/v1/static-export/jobs/se_1` });
    expect(await errorOf(look(clientOf(server.url)))).toMatchObject({ kind: 'redirect', status });
    expect(elsewhere.requests).toEqual([]);
  });
});

describe('no error holds the key or a link', () => {
  const LINK = 'https://files.test/b.tar.gz?X-Signature=s3cr3t';
  const echo = `your ${KEY} and ${LINK}`;
  const raw = (text: string) => () => tcpServer((socket) => socket.on('data', () => socket.end(text)));
  const cases: [string, () => Promise<{ url: string }>][] = [
    ['a redirect', () => answering(302, {}, { location: LINK })],
    ['a body that is no JSON', () => answering(200, echo)],
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
    const shown = [String(error), error.stack, JSON.stringify(error), inspect(error, { depth: 9 })];
    for (const text of shown) expect(text).not.toMatch(/0123456789abcdef|s3cr3t/);
    expect(error.message).not.toContain('se_private');
    expect(error.message).toContain('/v1/static-export/jobs/{jobId}/bundle');
  });
});
