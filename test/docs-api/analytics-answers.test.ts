import { describe, expect, test } from 'vitest';
import { answering, clientOf, errorOf } from '../support/docs-api/servers.ts';

describe('page paths', () => {
  test('of 2,000 characters fill a response, which is read as it is', async () => {
    const path = (n: number) => `/${String(n).padStart(5, '0')}${'🙂'.repeat(1994)}`;
    const views = Array.from({ length: 250 }, (_, n) => ({ path: path(n), human: n, ai: 1, total: n + 1 }));
    const body = { totals: { human: 1, ai: 1, total: 2 }, views, hasMore: true };
    const escaped = JSON.stringify(body).replace(/🙂/gu, String.raw`\ud83d\ude42`);
    const server = await answering(200, escaped);
    expect(await clientOf(server.url).getPageViews({ projectId: 'p' })).toEqual(body);
  });

  test('that are longer are cut between characters', async () => {
    const counts = { human: 1, ai: 1, total: 2 };
    const views = ['x'.repeat(40_000), '🙂'.repeat(2001), `/${'🙂'.repeat(1999)}`, '\uD800', ''];
    const server = await answering(200, {
      totals: counts,
      views: views.map((path) => ({ path, ...counts })),
      hasMore: false,
    });
    const { views: read } = await clientOf(server.url).getPageViews({ projectId: 'p' });
    expect(read.map(({ path }) => path)).toEqual([
      `${'x'.repeat(1999)}…`,
      `${'🙂'.repeat(1999)}…`,
      `/${'🙂'.repeat(1999)}`,
      '\uFFFD',
      '',
    ]);
  });
});

const LONG = 'x'.repeat(480);

describe('e-mail addresses of readers', () => {
  test.each(['ana@example.com', `${LONG} ana.lopez.of.accounting@example.com`, 'ana%40example.com'])(
    'are not read from search terms, categories and paths: %s',
    async (text) => {
      const counts = { human: 1, ai: 1, total: 2 };
      const server = await answering(200, {
        totals: counts,
        views: [
          { path: `/u/${text}`, ...counts },
          { path: '/a', ...counts },
          { path: `/v/${'x'.repeat(1500)}${text}`, ...counts, human: '1' },
        ],
        hasMore: false,
        searches: [
          { searchQuery: `reset password ${text}`, hits: 90 },
          { searchQuery: 'sso', hits: 3 },
        ],
        feedback: [
          { path: `/u/${text}`, thumbsUp: 1, thumbsDown: 2 },
          { path: '/a', thumbsUp: 1, thumbsDown: 2 },
        ],
        conversations: [{ resolutionStatus: 'unanswered', queryCategory: `Mail of ${text}` }],
      });
      const api = clientOf(server.url);
      expect(await api.getPageViews({ projectId: 'p' })).toEqual({
        totals: counts,
        views: [{ path: '/a', ...counts }],
        hasMore: false,
        leftOut: 2,
      });
      expect(await api.getSearches({ projectId: 'p' })).toEqual({
        searches: [{ searchQuery: 'sso', hits: 3 }],
      });
      expect(await api.getFeedbackByPage({ projectId: 'p' })).toEqual({
        feedback: [{ path: '/a', thumbsUp: 1, thumbsDown: 2 }],
        hasMore: false,
      });
      expect(await api.getAssistantConversations({ projectId: 'p' })).toEqual({
        conversations: [{ resolutionStatus: 'unanswered' }],
        hasMore: false,
      });
    },
  );
});

describe('visitors', () => {
  const visitors = async (body: unknown) =>
    clientOf((await answering(200, body)).url).getVisitors({ projectId: 'p' });

  test('are the totals alone', async () => {
    const totals = { human: 90, ai: 20, total: 100 };
    expect(await visitors({ totals, visitors: [{ path: '/a', human: 'x' }], hasMore: 1 })).toEqual({
      totals,
    });
    expect(await visitors({ totals: { human: null, total: '100' } })).toEqual({ totals: { total: 100 } });
  });

  test.each([{}, { totals: null }, { totals: { human: 90, ai: 20 } }, { totals: { total: 'many' } }])(
    '%j are none: people and AI do not add up',
    async (body) => {
      const server = await answering(200, body);
      expect(await errorOf(clientOf(server.url).getVisitors({ projectId: 'p' }))).toMatchObject({
        kind: 'unreadable',
      });
    },
  );
});

describe('searches', () => {
  const searches = async (body: unknown) =>
    clientOf((await answering(200, body)).url).getSearches({ projectId: 'p' });

  test('keep what a digest says of them', async () => {
    const found = { searchQuery: 'sso', hits: 41, ctr: 0.5, topClickedPage: '/guides/sso' };
    const lost = { searchQuery: 'sso okta', hits: '12', ctr: '0', topClickedPage: null };
    expect(
      await searches({
        searches: [{ ...found, lastSearchedAt: '2026-09-20T10:00:00Z' }, lost],
        totalSearches: 99,
        nextCursor: 'c2',
      }),
    ).toEqual({
      searches: [found, { searchQuery: 'sso okta', hits: 12, ctr: 0 }],
      totalSearches: 99,
      nextCursor: 'c2',
    });
  });

  test('need terms and hits only; what cannot be read is left out', async () => {
    expect(
      await searches({
        searches: [
          { searchQuery: '', hits: 3, ctr: 'low', topClickedPage: '' },
          { searchQuery: 'x'.repeat(40_000), hits: 2, topClickedPage: '/'.repeat(40_000) },
          { searchQuery: 'clicked somewhere', hits: 2, ctr: 0, topClickedPage: {} },
          { searchQuery: 'how often?' },
          { hits: 2 },
          null,
        ],
        totalSearches: 'many',
        nextCursor: null,
      }),
    ).toEqual({
      searches: [
        { searchQuery: '', hits: 3 },
        { searchQuery: `${'x'.repeat(499)}…`, hits: 2, topClickedPage: `${'/'.repeat(1999)}…` },
      ],
    });
  });
});

describe('feedback by page', () => {
  test('keeps the thumbs; a page without them is left out', async () => {
    const row = { path: '/a', thumbsUp: 1, thumbsDown: 4 };
    const server = await answering(200, {
      feedback: [
        { ...row, code: 2, total: 7 },
        { path: '/b', thumbsDown: 9 },
        { thumbsUp: 1, thumbsDown: 9 },
      ],
      hasMore: 'true',
    });
    expect(await clientOf(server.url).getFeedbackByPage({ projectId: 'p' })).toEqual({
      feedback: [row],
      hasMore: true,
    });
  });

  test('needs no more than the list', async () => {
    const server = await answering(200, { feedback: [], hasMore: 'perhaps' });
    expect(await clientOf(server.url).getFeedbackByPage({ projectId: 'p' })).toEqual({
      feedback: [],
      hasMore: false,
    });
  });
});

describe('conversations with the assistant', () => {
  const conversations = async (body: unknown) =>
    clientOf((await answering(200, body)).url).getAssistantConversations({ projectId: 'p' });

  test('keep nothing that readers wrote', async () => {
    const read = await conversations({
      conversations: [
        {
          id: '01K5',
          timestamp: '2026-09-20T10:00:00Z',
          query: 'I am ana@reader.example',
          response: 'Hello Ana',
          responseType: 'answer',
          resolutionStatus: 'Unanswered',
          queryCategory: ' billing ',
          pageUrl: 'https://docs.acme.com/ana',
          sources: [{ title: 'Ana', url: 'https://docs.acme.com/a' }],
        },
      ],
      nextCursor: '01K5',
      hasMore: true,
    });
    expect(read).toEqual({
      conversations: [{ resolutionStatus: 'unanswered', queryCategory: 'billing' }],
      nextCursor: '01K5',
      hasMore: true,
    });
  });

  test('count, whatever they lack', async () => {
    const rows = [{}, { resolutionStatus: 7, queryCategory: 7 }, { resolutionStatus: 'escalated' }];
    expect(await conversations({ conversations: rows })).toEqual({
      conversations: rows.map(() => ({ resolutionStatus: 'unknown' })),
      hasMore: false,
    });
    const long = { resolutionStatus: 'answered'.repeat(5000), queryCategory: 'x'.repeat(40_000) };
    expect((await conversations({ conversations: [long] })).conversations).toEqual([
      { resolutionStatus: 'unknown', queryCategory: `${'x'.repeat(199)}…` },
    ]);
  });

  test('an unreadable one costs no more than itself', async () => {
    expect(await conversations({ conversations: [null, {}, 'a'] })).toEqual({
      conversations: [{ resolutionStatus: 'unknown' }],
      hasMore: false,
    });
  });

  test('go on as far as the platform says', async () => {
    expect(await conversations({ conversations: [], nextCursor: 42 })).toMatchObject({
      nextCursor: '42',
      hasMore: true,
    });
    expect(await conversations({ conversations: [], nextCursor: '', hasMore: true })).toEqual({
      conversations: [],
      hasMore: true,
    });
  });

  test.each([
    {},
    { conversations: null },
    { conversations: [], nextCursor: {} },
    { conversations: [], nextCursor: 'x'.repeat(2001) },
  ])('are unreadable when a count of them would be wrong: %j', async (body) => {
    const server = await answering(200, body);
    const error = await errorOf(clientOf(server.url).getAssistantConversations({ projectId: 'p' }));
    expect(error).toMatchObject({ kind: 'unreadable' });
  });
});
