import { describe, expect, test } from 'vitest';
import { START_MS, standIn } from '../test-support/platform.ts';

const week = 'dateFrom=2026-09-14&dateTo=2026-09-21';

describe('searches', () => {
  test('come by hits, page by page', async () => {
    const { readers } = standIn();
    const all = (await readers('searches', `${week}&limit=100`)).body;
    expect(all.nextCursor).toBeNull();
    const hits = all.searches.map((row: { hits: number }) => row.hits);
    expect(hits).toEqual(hits.toSorted((a: number, b: number) => b - a));
    expect(hits.reduce((sum: number, count: number) => sum + count, 0)).toBe(all.totalSearches);
    expect(
      all.searches.filter(({ ctr, topClickedPage }: { ctr: number; topClickedPage: string | null }) =>
        topClickedPage === null ? ctr !== 0 : ctr === 0,
      ),
    ).toEqual([]);

    const first = (await readers('searches', `${week}&limit=10`)).body;
    const next = (await readers('searches', `${week}&limit=100&cursor=${first.nextCursor}`)).body;
    expect([...first.searches, ...next.searches]).toEqual(all.searches);
    const elsewhere = await readers('searches', `dateFrom=2026-09-15&cursor=${first.nextCursor}`);
    expect(elsewhere.status).toBe(400);
    for (const query of ['cursor=', 'cursor=x', 'limit=101']) {
      expect((await readers('searches', `${week}&${query}`)).status).toBe(400);
    }
  });
});

describe('conversations with the assistant', () => {
  test('come page by page, the latest first, none of the future', async () => {
    const { readers } = standIn();
    const all = (await readers('assistant', 'dateFrom=2026-09-14&limit=1000')).body;
    const ids = all.conversations.map(({ id }: { id: string }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(Date.parse(all.conversations[0].timestamp)).toBeLessThanOrEqual(START_MS);
    const pages = [];
    for (let cursor = '', more = true; more; ) {
      const { body } = await readers('assistant', `dateFrom=2026-09-14&limit=30${cursor}`);
      pages.push(...body.conversations);
      cursor = `&cursor=${body.nextCursor}`;
      more = body.hasMore;
    }
    expect(pages).toEqual(all.conversations);
    expect((await readers('assistant', 'cursor=x')).status).toBe(400);
  });
});
