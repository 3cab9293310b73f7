import { describe, expect, test } from 'vitest';
import { standIn } from '../test-support/platform.ts';

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
});
