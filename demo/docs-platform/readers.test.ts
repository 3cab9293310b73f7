import { describe, expect, test } from 'vitest';
import { HOUR_MS, START_MS, standIn } from '../test-support/platform.ts';

const operations = ['visitors', 'searches', 'feedback', 'assistant'] as const;
const week = 'dateFrom=2026-09-14&dateTo=2026-09-21';

describe.each(operations)('%s', (operation) => {
  test('beside an unknown parameter: 400', async () => {
    const { readers } = standIn();
    for (const query of [
      'page=2',
      'status=pending',
      'limit=0',
      'limit=1001',
      'limit=',
      'dateFrom=yesterday',
    ]) {
      expect(await readers(operation, query)).toMatchObject({
        status: 400,
        body: { error: expect.any(String) },
      });
    }
  });

  test('of another project: 404', async () => {
    const { platform, readers } = standIn({ projectId: 'prj_other' });
    expect((await readers(operation, week)).status).toBe(200);
    expect((await standIn().readers(operation, week, platform.projectId)).status).toBe(404);
  });

  test('takes one of the 100 of the hour that all analytics share', async () => {
    const { clock, platform, readers, views } = standIn({ retryAfter: true });
    for (let n = 0; n < 99; n += 1) await views('?limit=0');
    expect((await readers(operation, week)).status).toBe(200);
    expect((await readers(operation, week)).status).toBe(429);
    expect(platform.used.analytics()).toBe(100);
    expect(platform.analyticsRequests()).toMatchObject({ views: 99, [operation]: 2 });
    clock.ms += HOUR_MS;
    expect((await readers(operation, week)).status).toBe(200);
  });

  test('can be missing, and come back', async () => {
    const { platform, readers } = standIn({ without: [operation] });
    expect((await readers(operation, week)).status).toBe(404);
    platform.readers.without.set(operation, 405);
    expect((await readers(operation, week)).status).toBe(405);
    expect(platform.used.analytics()).toBe(0);
    platform.readers.without.delete(operation);
    expect((await readers(operation, week)).status).toBe(200);
    expect((await standIn({ additions: false }).readers(operation, week)).status).toBe(404);
  });
});

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

describe('feedback by page', () => {
  test('is ten pages unless more are asked for, and says that there are more', async () => {
    const { readers } = standIn();
    const ten = (await readers('feedback', week)).body;
    expect(ten).toMatchObject({ hasMore: true });
    expect(ten.feedback).toHaveLength(10);
    expect((await readers('feedback', `${week}&limit=100`)).body).toMatchObject({ hasMore: false });
    for (const query of ['limit=101', 'offset=10', 'cursor=x']) {
      expect((await readers('feedback', query)).status).toBe(400);
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
