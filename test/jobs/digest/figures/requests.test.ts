import { expect, test } from 'vitest';
import type { DocsApi } from '../../../../src/docs-api/client.ts';
import { requestReaders, withPart } from '../../../../src/jobs/digest/figures/requests.ts';

const range = { from: '2026-09-14', to: '2026-09-21' };
const none = { done: [], figures: { visitors: { total: 5 } } };

/** A platform that tells of 250 questions at a time, one of them unanswered, as often as that. */
function platformWith(times: number) {
  let asked = 0;
  const docs = {
    async getAssistantConversations() {
      asked += 1;
      const conversations = Array.from({ length: 250 }, (_, index) => ({
        resolutionStatus: index === 0 ? 'unanswered' : 'answered',
        queryCategory: 'Billing',
      }));
      const hasMore = asked < times;
      return { conversations, hasMore, ...(hasMore && { nextCursor: `c${asked}` }) };
    },
  } as unknown as DocsApi;
  return { docs, projectId: 'p', signal: new AbortController().signal };
}

test('questions are counted over several requests', async () => {
  const source = platformWith(2);
  const half = await requestReaders(none, 'questions', range, source);
  expect(half).toMatchObject({ ...none, open: { cursor: 'c1', asked: 250 } });
  const whole = await requestReaders(half, 'questions', range, source);
  expect(whole).toEqual({
    done: ['questions'],
    figures: { visitors: { total: 5 }, questions: { asked: 500, unanswered: 2, category: 'Billing' } },
  });
});

test('questions of which only a part was counted are left out', async () => {
  const half = await requestReaders(none, 'questions', range, platformWith(9));
  expect(half.figures).toEqual({ visitors: { total: 5 } });
  expect(withPart(half, 'questions')).toEqual({ ...none, done: ['questions'] });
});

/** A platform with so many terms that readers clicked, each with as many hits, before those that they did not. */
function searchesOf(clicked: number, hits: number, unclicked: { searchQuery: string; hits: number }[]) {
  const all = [
    ...Array.from({ length: clicked }, (_, n) => ({ searchQuery: `clicked ${n}`, hits, ctr: 0.5 })),
    ...unclicked.map((one) => ({ ...one, ctr: 0 })),
  ];
  let asked = 0;
  const docs = {
    async getSearches({ limit, cursor = '0' }: { limit: number; cursor?: string }) {
      asked += 1;
      const end = Number(cursor) + limit;
      const next = end < all.length ? { nextCursor: String(end) } : {};
      return { searches: all.slice(Number(cursor), end), ...next };
    },
  } as unknown as DocsApi;
  return { source: { docs, projectId: 'p', signal: new AbortController().signal }, asked: () => asked };
}

async function allSearches(source: Parameters<typeof requestReaders>[3]) {
  let readers: Parameters<typeof requestReaders>[0] = none;
  while (!readers.done.includes('searches'))
    readers = await requestReaders(readers, 'searches', range, source);
  return readers;
}

test('a search that nobody clicked is found behind hundreds that were clicked', async () => {
  const { source, asked } = searchesOf(250, 500, [{ searchQuery: 'sso okta', hits: 400 }]);
  expect(await allSearches(source)).toEqual({
    done: ['searches'],
    figures: { visitors: { total: 5 }, searches: [{ query: 'sso okta', hits: 400 }] },
  });
  expect(asked()).toBe(3);
});

test('searches are not asked for once they are too rare, nor without end', async () => {
  const rare = searchesOf(250, 9, []);
  expect((await allSearches(rare.source)).figures.searches).toEqual([]);
  expect(rare.asked()).toBe(1);
  const endless = searchesOf(5000, 500, [{ searchQuery: 'sso okta', hits: 400 }]);
  await allSearches(endless.source);
  expect(endless.asked()).toBe(20);
});

test('searches that were found stay when the rest cannot be had', async () => {
  const lost = [{ searchQuery: 'sso okta', hits: 900 }];
  const { source } = searchesOf(0, 0, [
    ...lost,
    ...Array.from({ length: 200 }, () => ({ searchQuery: 'sso', hits: 20 })),
  ]);
  const half = await requestReaders(none, 'searches', range, source);
  expect(half).toMatchObject({ done: [], open: { cursor: '100' } });
  expect(withPart(half, 'searches')).toMatchObject({
    done: ['searches'],
    figures: {
      searches: [
        { query: 'sso okta', hits: 900 },
        { query: 'sso', hits: 20 },
      ],
    },
  });
});
