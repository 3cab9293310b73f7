import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DocsApi } from '../../src/docs-api/client.ts';
import { answering, clientOf, errorOf, httpServer, KEY } from '../support/docs-api/servers.ts';

const job = { projectId: 'p', jobId: 'aj_1' };
const calls = {
  start: (api: DocsApi) => api.startExport({ domain: 'docs.acme.com' }),
  poll: (api: DocsApi) => api.getExport({ jobId: 'se_1' }),
  bundle: (api: DocsApi) => api.createBundle({ jobId: 'se_1' }),
  agent: (api: DocsApi) => api.getAgentJob(job),
  send: (api: DocsApi) => api.sendFollowUp({ ...job, prompt: 'x' }),
  create: (api: DocsApi) => api.createAgentJob({ projectId: 'p', prompt: 'x' }),
  views: (api: DocsApi) => api.getPageViews({ projectId: 'p' }),
  visitors: (api: DocsApi) => api.getVisitors({ projectId: 'p' }),
  searches: (api: DocsApi) => api.getSearches({ projectId: 'p' }),
  feedback: (api: DocsApi) => api.getFeedbackByPage({ projectId: 'p' }),
  conversations: (api: DocsApi) => api.getAssistantConversations({ projectId: 'p' }),
};
type Call = keyof typeof calls;

test.each([
  [400, 'bad_request', 'no'],
  [401, 'key_rejected', 'no'],
  [402, 'rejected', 'unknown'],
  [403, 'forbidden', 'no'],
  [404, 'not_found', 'no'],
  [405, 'unsupported', 'no'],
  [408, 'timeout', 'unknown'],
  [409, 'conflict', 'unknown'],
  [410, 'not_found', 'no'],
  [411, 'rejected', 'no'],
  [413, 'bad_request', 'no'],
  [415, 'bad_request', 'no'],
  [422, 'bad_request', 'no'],
  [429, 'rate_limited', 'no'],
  [500, 'server', 'no'],
  [501, 'unsupported', 'no'],
  [502, 'server', 'unknown'],
  [503, 'server', 'no'],
  [504, 'server', 'unknown'],
  [302, 'redirect', 'unknown'],
] as const)('status %s is %s, happened: %s, and a start is sent once', async (status, kind, happened) => {
  const server = await answering(status, { error: 'Told by the platform' });
  const error = await errorOf(calls.start(clientOf(server.url)));
  expect(error).toMatchObject({ operation: 'startExport', status, kind, happened });
  const retryable = [429, 500, 503].includes(status);
  expect(error).toMatchObject({ platformMessage: 'Told by the platform', retryable });
  expect(error.message).toBe(`POST /v1/static-export/jobs: status ${status}`);
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['90', 90_000],
  ['2.5', 2500],
  ['Mon, 14 Sep 2026 14:31:00 GMT', 900_000],
  ['Monday, 14-Sep-26 14:31:00 GMT', 900_000],
  ['Mon, 14 Sep 2026 14:15:00 GMT', 0],
  ['Mon, 14 Sep 2026 99:99:99 GMT', undefined],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000],
  ['999999999', 86_400_000],
  ['September 5 2026', undefined],
  ['soon', undefined],
  ['-5', undefined],
])('Retry-After: %s is %s ms', async (header, retryAfterMs) => {
  // The clock of the platform counts, whatever that of this machine shows.
  const date = 'Mon, 14 Sep 2026 14:16:00 GMT';
  const server = await answering(429, {}, { 'retry-after': header, date });
  expect((await errorOf(calls.start(clientOf(server.url)))).retryAfterMs).toBe(retryAfterMs);
});

const zeros = 'x'.repeat(17_000_000);
test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
] as const)(
  'an answer in %s is decoded, and one that grows beyond measure is unreadable',
  async (name, pack) => {
    const packed = async (status: number, body: string) =>
      httpServer((_, response) => response.writeHead(status, { 'content-encoding': name }).end(pack(body)));
    const told = await packed(400, '{\n  "error": "No such site"\n}');
    expect(await errorOf(calls.start(clientOf(told.url)))).toMatchObject({ platformMessage: 'No such site' });
    const bomb = await packed(200, `{"jobId":"${zeros}"}`);
    expect(await errorOf(calls.start(clientOf(bomb.url)))).toMatchObject({ kind: 'unreadable' });
    const garbage = await httpServer((_, response) =>
      response.writeHead(200, { 'content-encoding': name }).end('garbage'),
    );
    expect(await errorOf(calls.start(clientOf(garbage.url)))).toMatchObject({ happened: 'unknown' });
  },
);

const counts = { human: 1, ai: 1 };
const link = 'https://files.test/b?s=1';
const pr = 'https://github.com/acme/docs/pull/1';
const long = 'x'.repeat(40_000);
const answered = { resolutionStatus: 'unanswered', queryCategory: 'billing' };

/** Answers of status 200, and how they read; without a result they are unreadable, and a start is unknown. */
const answers: [Call, unknown, unknown?][] = [
  ...[
    '{"id":"se_1"}',
    '{"jobId":" "}',
    '{"jobId":{}}',
    '[]',
    'null',
    '',
    '<html>please log in',
    '{"jobId":"se_',
  ].map((body): [Call, unknown] => ['start', body]),
  ...['a/b', '..', '\uD800', ' ', 'x'.repeat(513)].map((jobId): [Call, unknown] => ['start', { jobId }]),
  [
    'start',
    { jobId: 42, status: 7, pageCount: 'many', createdAt: 'once', error: [] },
    { jobId: '42', status: 'queued', rawStatus: '' },
  ],
  ['poll', { jobId: 'se_1', status: '' }],
  [
    'poll',
    { status: ' Completed ', progress: 1, pageCount: '412', extra: {} },
    { status: 'completed', rawStatus: 'Completed', progress: { fraction: 1 }, pageCount: 412 },
  ],
  ...[
    'javascript:alert(1)',
    'ftp://files.test/b',
    '/b.tar.gz',
    '',
    'https://files.test/a\nb',
    'https://a b/c',
  ].map((bundleUrl): [Call, unknown] => ['bundle', { bundleUrl, expiresAt: '2026-09-14T14:30:00Z' }]),
  ['bundle', { bundleUrl: link, expiresAt: 'later', sizeBytes: 'big' }, { bundleUrl: link }],
  ['bundle', { bundleUrl: ' https://files.test/a b?s=1 ' }, { bundleUrl: 'https://files.test/a%20b?s=1' }],
  ...(
    [
      [null, {}],
      ['', {}],
      [pr, { prLink: pr }],
      ['acme/docs#1', { prLink: 'acme/docs#1' }],
    ] as const
  ).map(([prLink, given]): [Call, unknown, unknown] => [
    'agent',
    { status: 'completed', prLink, source: null, archivedAt: null },
    { status: 'completed', rawStatus: 'completed', ...given },
  ]),
  ['send', {}, { status: 'unknown', rawStatus: '' }],
  ['create', {}],
  ['views', { views: [], hasMore: false }],
  ['views', { totals: counts, hasMore: false }],
  ['views', { totals: counts, views: [] }],
  ['views', { totals: { ...counts, human: 'many' }, views: [], hasMore: false }],
  ['views', { totals: { ...counts, human: null }, views: [], hasMore: false }],
  [
    'views',
    {
      totals: { human: 3, ai: 4.5 },
      views: [{ path: '/a', human: 3, ai: -1 }],
      hasMore: false,
    },
    {
      totals: { human: 3, ai: 4.5 },
      views: [{ path: '/a', human: 3, ai: -1 }],
      hasMore: false,
    },
  ],
  ...[{}, { totals: null }, { totals: { human: 90, ai: 20 } }, { totals: { total: 'many' } }].map(
    (body): [Call, unknown] => ['visitors', body],
  ),
  ['visitors', { totals: { total: 2 }, visitors: [{ path: '/a' }], hasMore: 1 }, { totals: { total: 2 } }],
  ['visitors', { totals: { human: null, total: 100 } }, { totals: { total: 100 } }],
  [
    'searches',
    {
      searches: [
        {
          searchQuery: 'sso',
          hits: 41,
          ctr: 0.5,
          topClickedPage: '/a',
          lastSearchedAt: '2026-09-20T10:00:00Z',
        },
        { searchQuery: '', hits: 3, ctr: 'low', topClickedPage: '' },
        { searchQuery: long, hits: 2, ctr: 0, topClickedPage: null },
        { searchQuery: 'clicked somewhere', hits: 2, ctr: 0, topClickedPage: {} },
        { searchQuery: 'how often?' },
        null,
      ],
      totalSearches: 'many',
      nextCursor: 'c2',
    },
    {
      searches: [
        { searchQuery: 'sso', hits: 41, ctr: 0.5, topClickedPage: '/a' },
        { searchQuery: '', hits: 3 },
        { searchQuery: `${'x'.repeat(499)}…`, hits: 2, ctr: 0 },
      ],
      nextCursor: 'c2',
    },
  ],
  [
    'feedback',
    {
      feedback: [
        { path: '/a', thumbsUp: 1, thumbsDown: 4, code: 2 },
        { path: '/b', thumbsDown: 9 },
      ],
      hasMore: true,
    },
    { feedback: [{ path: '/a', thumbsUp: 1, thumbsDown: 4 }], hasMore: true },
  ],
  ['feedback', { feedback: [], hasMore: 'perhaps' }, { feedback: [] }],
  [
    'conversations',
    {
      conversations: [
        {
          id: '01K5',
          query: 'I am ana@reader.example',
          resolutionStatus: 'Unanswered',
          queryCategory: ' billing ',
        },
        { resolutionStatus: 'answered'.repeat(5000), queryCategory: long },
        { resolutionStatus: 7, queryCategory: 7 },
        {},
        null,
      ],
    },
    {
      conversations: [
        answered,
        { resolutionStatus: 'unknown', queryCategory: `${'x'.repeat(199)}…` },
        { resolutionStatus: 'unknown' },
        { resolutionStatus: 'unknown' },
      ],
      hasMore: false,
    },
  ],
  [
    'conversations',
    { conversations: [], nextCursor: '42' },
    { conversations: [], nextCursor: '42', hasMore: true },
  ],
  [
    'conversations',
    { conversations: [], nextCursor: '', hasMore: true },
    { conversations: [], hasMore: true },
  ],
  ...[
    {},
    { conversations: null },
    { conversations: [], nextCursor: {} },
    { conversations: [], nextCursor: long },
  ].map((body): [Call, unknown] => ['conversations', body]),
];

test.each(answers)('%s reads %j', async (call, body, result) => {
  const server = await answering(200, body);
  const outcome = calls[call](clientOf(server.url));
  if (result === undefined) {
    const error = await errorOf(outcome);
    const isSafe = !['start', 'send', 'create'].includes(call);
    expect(error).toMatchObject({ kind: 'unreadable', status: 200, happened: 'unknown', retryable: isSafe });
  } else expect(await outcome).toEqual(result);
  expect(server.requests).toHaveLength(1);
});

describe('page paths', () => {
  const viewsOf = async (paths: string[]) => {
    const views = paths.map((path) => ({ path, ...counts }));
    const server = await answering(200, { totals: counts, views, hasMore: true });
    return (await calls.views(clientOf(server.url))).views.map(({ path }) => path);
  };

  test('of 2,000 characters fill a response, which is read as it is', async () => {
    const paths = Array.from({ length: 250 }, (_, n) => `/${String(n).padStart(5, '0')}${'🙂'.repeat(1994)}`);
    expect(await viewsOf(paths)).toEqual(paths);
  });

  test('that are longer are cut between characters', async () => {
    const cut = [`${'x'.repeat(1999)}…`, `${'🙂'.repeat(1999)}…`, '\uFFFD', ''];
    expect(await viewsOf([long, '🙂'.repeat(2001), '\uD800', ''])).toEqual(cut);
  });
});

test.each(['ana@example.com', `${'x'.repeat(480)} ana.of.accounting@example.com`, 'ana%40example.com'])(
  'e-mail addresses of readers are not read: %s',
  async (text) => {
    const thumbs = { thumbsUp: 1, thumbsDown: 2 };
    const unreadable = { path: `/v/${'x'.repeat(1500)}${text}`, ...counts };
    const server = await answering(200, {
      totals: counts,
      views: [{ path: `/u/${text}`, ...counts }, { path: '/a', ...counts }, unreadable],
      hasMore: false,
      searches: [{ searchQuery: `reset password ${text}`, hits: 90 }],
      feedback: [{ path: `/u/${text}`, ...thumbs }],
      conversations: [{ resolutionStatus: 'unanswered', queryCategory: `Mail of ${text}` }],
    });
    const api = clientOf(server.url);
    expect(await calls.views(api)).toMatchObject({ views: [{ path: '/a' }], leftOut: 2 });
    expect(await calls.searches(api)).toEqual({ searches: [] });
    expect(await calls.feedback(api)).toEqual({ feedback: [], hasMore: false });
    const { conversations } = await calls.conversations(api);
    expect(conversations).toEqual([{ resolutionStatus: 'unanswered' }]);
  },
);

test('whatever the platform answers, the outcome is a result or a DocsApiError, and the key stays in', async () => {
  const answer = { status: 200, body: '' };
  const server = await httpServer((_, response) => response.writeHead(answer.status).end(answer.body));
  const api = clientOf(server.url);
  const secret = fc.constantFrom(KEY, `Bearer ${KEY}`, 'https://files.test/b.tar.gz?X-Signature=s3cr3t');
  const value = fc.oneof(fc.jsonValue(), secret);
  const names =
    'jobId id status progress error bundleUrl prLink source message totals views searches feedback conversations nextCursor';
  const name = fc.constantFrom(...names.split(' '));
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
      fc.constantFrom(...Object.values(calls)),
      async (status, text, call) => {
        Object.assign(answer, { status, body: text });
        const outcome = await call(api).catch((error: unknown) => error);
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
