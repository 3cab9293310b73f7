import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DocsApi } from '../../src/docs-api/client.ts';
import { answering, clientOf, errorOf, httpServer, KEY } from '../support/docs-api/servers.ts';

const start = (api: DocsApi) => api.startExport({ domain: 'docs.acme.com' });
const look = (api: DocsApi) => api.getExport({ jobId: 'se_1' });

describe('what a status proves', () => {
  test.each([
    [400, 'bad_request', 'no'],
    [401, 'key_rejected', 'no'],
    [402, 'rejected', 'unknown'],
    [403, 'forbidden', 'no'],
    [404, 'not_found', 'no'],
    [405, 'unsupported', 'no'],
    [406, 'rejected', 'unknown'],
    [408, 'timeout', 'unknown'],
    [409, 'conflict', 'unknown'],
    [410, 'not_found', 'no'],
    [411, 'rejected', 'no'],
    [413, 'bad_request', 'no'],
    [415, 'bad_request', 'no'],
    [422, 'bad_request', 'no'],
    [429, 'rate_limited', 'no'],
    [499, 'rejected', 'unknown'],
    [500, 'server', 'unknown'],
    [501, 'unsupported', 'unknown'],
    [502, 'server', 'unknown'],
    [503, 'server', 'unknown'],
    [302, 'redirect', 'unknown'],
  ] as const)('%s is %s, happened: %s, and a start is sent once', async (status, kind, happened) => {
    const server = await answering(status, { error: 'Told by the platform' });
    const error = await errorOf(start(clientOf(server.url)));
    expect(error).toMatchObject({ operation: 'startExport', status, kind, happened });
    expect(error).toMatchObject({ platformMessage: 'Told by the platform', retryable: status === 429 });
    expect(error.message).toBe(`POST /v1/static-export/jobs: status ${status}`);
    expect(server.requests).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  test.each([
    ['90', 90_000],
    ['2.5', 2500],
    ['Mon, 14 Sep 2026 14:31:00 GMT', undefined],
    ['soon', undefined],
    ['-5', undefined],
  ])('%s is %s ms', async (header, retryAfterMs) => {
    const server = await answering(429, {}, { 'retry-after': header });
    expect((await errorOf(start(clientOf(server.url)))).retryAfterMs).toBe(retryAfterMs);
  });
});

describe('2xx answers that cannot be used', () => {
  test.each([
    ['another shape', '{"id":"se_1"}'],
    ['an empty id', '{"jobId":" "}'],
    ['an id that is an object', '{"jobId":{}}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['nothing', ''],
    ['a page of a proxy', '<html>please log in'],
    ['half of an object', '{"jobId":"se_'],
  ])('%s leave a start unknown', async (_, body) => {
    const server = await answering(202, body);
    const error = await errorOf(start(clientOf(server.url)));
    expect(error).toMatchObject({ kind: 'unreadable', status: 202, happened: 'unknown', retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  test('a job without a status is unreadable', async () => {
    const server = await answering(200, { jobId: 'se_1', status: '' });
    const error = await errorOf(look(clientOf(server.url)));
    expect(error).toMatchObject({ kind: 'unreadable', retryable: true });
    expect(error.message).toContain('status is missing');
  });

  test.each(['a/b', '..', '\uD800', ' ', 'x'.repeat(513)])(
    'a started export with the id %j is unclear: it cannot be asked about',
    async (jobId) => {
      const server = await answering(200, { jobId });
      expect(await errorOf(start(clientOf(server.url)))).toMatchObject({
        kind: 'unreadable',
        happened: 'unknown',
      });
    },
  );

  test.each([
    'javascript:alert(1)',
    'ftp://files.test/b',
    '/b.tar.gz',
    '',
    'https://files.test/a\nb',
    'https://a b/c',
  ])('a bundle link %j is none', async (bundleUrl) => {
    const server = await answering(200, { bundleUrl, expiresAt: '2026-09-14T14:30:00Z' });
    expect(await errorOf(clientOf(server.url).createBundle({ jobId: 'se_1' }))).toMatchObject({
      kind: 'unreadable',
    });
  });

  test('a space in a bundle link is encoded', async () => {
    const server = await answering(200, { bundleUrl: ' https://files.test/acme docs/b.tar.gz?s=1 ' });
    expect(await clientOf(server.url).createBundle({ jobId: 'se_1' })).toEqual({
      bundleUrl: 'https://files.test/acme%20docs/b.tar.gz?s=1',
    });
  });

  test.each([
    { views: [], hasMore: false },
    { totals: { human: 1, ai: 1, total: 2 }, hasMore: false },
    { totals: { human: 1, ai: 1, total: 2 }, views: [] },
    { totals: { human: 'many', ai: 1, total: 0 }, views: [], hasMore: false },
    { totals: { human: null, ai: 1, total: 0 }, views: [], hasMore: false },
  ])('page views %j are none', async (body) => {
    const server = await answering(200, body);
    expect(await errorOf(clientOf(server.url).getPageViews({ projectId: 'p' }))).toMatchObject({
      kind: 'unreadable',
    });
  });
});

describe('tolerance', () => {
  test('a start needs no more than an id, which may be a number', async () => {
    const server = await answering(200, {
      jobId: 42,
      status: 7,
      pageCount: 'many',
      createdAt: 'once',
      error: [],
    });
    expect(await start(clientOf(server.url))).toEqual({ jobId: '42', status: 'queued', rawStatus: '' });
  });

  test('a status is known in any case', async () => {
    const server = await answering(200, { status: ' Completed ', progress: 1, pageCount: '412', extra: {} });
    expect(await look(clientOf(server.url))).toEqual({
      status: 'completed',
      rawStatus: 'Completed',
      progress: { fraction: 1 },
      pageCount: 412,
    });
  });

  test.each([
    [null, {}],
    [undefined, {}],
    ['', {}],
    ['https://github.com/acme/docs/pull/1', { prLink: 'https://github.com/acme/docs/pull/1' }],
    ['acme/docs#1', { prText: 'acme/docs#1' }],
    ['javascript:alert(1)', { prText: 'javascript:alert(1)' }],
  ])('prLink %j gives %j', async (prLink, given) => {
    const server = await answering(200, { status: 'completed', prLink, source: null, archivedAt: null });
    const job = await clientOf(server.url).getAgentJob({ projectId: 'p', jobId: 'aj_1' });
    expect(job).toEqual({ status: 'completed', rawStatus: 'completed', ...given });
  });

  test('an instruction was taken also when the answer says nothing', async () => {
    const server = await answering(200, {});
    expect(await clientOf(server.url).sendFollowUp({ projectId: 'p', jobId: 'aj_1', prompt: 'x' })).toEqual({
      status: 'unknown',
      rawStatus: '',
    });
  });

  test('counts may be text, and only a missing total is added up', async () => {
    const server = await answering(200, {
      totals: { human: '3', ai: 4, total: 8 },
      views: [{ path: '/a', human: 3, ai: 4 }],
      hasMore: 'false',
    });
    expect(await clientOf(server.url).getPageViews({ projectId: 'p' })).toEqual({
      totals: { human: 3, ai: 4, total: 8 },
      views: [{ path: '/a', human: 3, ai: 4, total: 7 }],
      hasMore: false,
    });
  });
});

test('whatever the platform answers, the outcome is a result or a DocsApiError, and the key stays in', async () => {
  const answer = { status: 200, body: '' };
  const server = await httpServer((_, response) => response.writeHead(answer.status).end(answer.body));
  const api = clientOf(server.url);
  const calls = [
    () => start(api),
    () => api.createBundle({ jobId: 'se_1' }),
    () => api.sendFollowUp({ projectId: 'p', jobId: 'aj_1', prompt: 'x' }),
    () => api.createAgentJob({ projectId: 'p', prompt: 'x' }),
    () => api.getPageViews({ projectId: 'p' }),
    () => api.getVisitors({ projectId: 'p' }),
    () => api.getSearches({ projectId: 'p' }),
    () => api.getFeedbackByPage({ projectId: 'p' }),
    () => api.getAssistantConversations({ projectId: 'p' }),
  ];
  const secret = fc.constantFrom(KEY, `Bearer ${KEY}`, 'https://files.test/b.tar.gz?X-Signature=s3cr3t');
  const value = fc.oneof(fc.jsonValue(), secret);
  const name = fc.constantFrom(
    'jobId',
    'id',
    'status',
    'progress',
    'error',
    'bundleUrl',
    'prLink',
    'source',
    'message',
    'totals',
    'views',
    'searches',
    'feedback',
    'conversations',
    'nextCursor',
  );
  const body = fc.oneof(
    fc.dictionary(name, value).map((fields) => JSON.stringify(fields)),
    value.map((any) => JSON.stringify(any)),
    fc.string({ unit: 'binary' }),
    secret,
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(200, 202, 400, 409, 429, 500),
      body,
      fc.nat(calls.length - 1),
      async (status, text, index) => {
        Object.assign(answer, { status, body: text });
        const outcome = await calls[index]?.().catch((error: unknown) => error);
        if (!(outcome instanceof Error)) return;
        expect(outcome.name).toBe('DocsApiError');
        expect(`${outcome} ${outcome.stack} ${JSON.stringify(outcome)}`).not.toMatch(
          /0123456789abcdef|s3cr3t/,
        );
      },
    ),
    { numRuns: 400 },
  );
});
