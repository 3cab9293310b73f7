import { describe, expect, test } from 'vitest';
import { HOUR_MS, START_MS, standIn } from '../test-support/platform.ts';

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

test('a search that the docs answer from a day on has clicks from that day on, and the others stay', async () => {
  const { platform, readers, clock } = standIn();
  const searches = async (days: string) => (await readers('searches', `${days}&limit=100`)).body.searches;
  const before = await searches(week);
  const lost = before.find(({ ctr }: { ctr: number }) => ctr === 0);
  platform.readers.answer(lost.searchQuery);
  expect(await searches(week)).toEqual(before);
  clock.ms += 14 * 24 * HOUR_MS;
  const after = await searches('dateFrom=2026-09-28&dateTo=2026-10-05');
  const unclicked = (rows: { searchQuery: string; ctr: number }[]) =>
    rows.flatMap(({ searchQuery, ctr }) => (ctr === 0 ? [searchQuery] : [])).sort();
  expect(unclicked(after)).toEqual(unclicked(before).filter((query) => query !== lost.searchQuery));
  const found = after.find(({ searchQuery }: { searchQuery: string }) => searchQuery === lost.searchQuery);
  expect(found).toMatchObject({ topClickedPage: expect.stringMatching(/^\//) });
  expect(found.ctr).toBeGreaterThanOrEqual(0.9);
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
