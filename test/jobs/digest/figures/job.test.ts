import { describe, expect, test } from 'vitest';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { analyticsLimit, backgroundLimit } from '../../../../src/jobs/digest/figures/limits.ts';
import {
  figuresRun,
  hasTotals,
  newFiguresRun,
  pagesOf,
  rangeKey,
} from '../../../../src/jobs/digest/figures/record.ts';
import { addCounts } from '../../../../src/jobs/digest/model.ts';
import type { RunBase } from '../../../../src/store/runs.ts';
import { collect, MONDAY, range, wanted } from '../../../support/jobs/digest/figures.ts';
import { type DigestWorld, digestWorld } from '../../../support/jobs/digest/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const HOUR_MS = 3_600_000;

const redis = redisForTests();

const byPath = (one: { path: string }, other: { path: string }) => (one.path < other.path ? -1 : 1);

/** What the stand-in has, apart from its `total`. */
const platformPages = ({ platform }: DigestWorld) =>
  platform.views.between(range.from, range.to).views.map(({ path, human, ai }) => ({ path, human, ai }));

describe('collecting the figures of a week', () => {
  test('has each day, and each page once, as the platform has them', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const run = await collect(world, newFiguresRun(wanted(), MONDAY));
    expect(run).toMatchObject({ state: 'ended', pages: { state: 'complete' } });
    expect(run.failed).toBeUndefined();
    expect(hasTotals(run)).toBe(true);
    const { totals } = world.platform.views.between(range.from, range.to);
    expect(addCounts(run.spans.flatMap(({ counts }) => counts ?? []))).toEqual({
      human: totals.human,
      ai: totals.ai,
    });
    const pages = await world.context.figures.pages(pagesOf(run), rangeKey(range));
    expect(pages.toSorted(byPath)).toEqual(platformPages(world).toSorted(byPath));
    // One request a day, and one for each 250 pages.
    expect(run.requests).toBe(7 + Math.ceil(pages.length / 250));
    expect(world.platform.analyticsRequests().views).toBe(run.requests);
  });

  test.each([10_000, 9_999])(
    'asks ahead, but for nothing in vain, and no slot of the hour is lost: %i pages',
    async (count) => {
      const world = await digestWorld(redis.client, MONDAY, { platform: { pages: count } });
      const run = await collect(world, newFiguresRun(wanted(), MONDAY));
      expect(run.pages).toMatchObject({ state: 'complete' });
      expect(world.platform.analyticsRequests().views).toBe(7 + 40);
      const { keyId = '' } = world.context.docs('acme') ?? {};
      for (const limit of [analyticsLimit(keyId, 10_000), backgroundLimit(keyId, 10_000)])
        expect((await world.context.rateLimiter.usage(limit)).used).toBe(7 + 40);
    },
  );

  test.each([
    ['for a weekly digest', 'for dates', false],
    ['for dates', 'for a weekly digest', true],
  ])(
    'a list of pages that was collected %s is not read again %s, nor with other parts',
    async (_, __, urgent) => {
      const world = await digestWorld(redis.client, MONDAY, { platform: { pages: 1200 } });
      await collect(world, newFiguresRun(wanted({ urgent }), MONDAY));
      const before = world.platform.analyticsRequests().views;
      for (const changes of [
        { urgent: !urgent, maxRequests: 15 },
        { urgent, maxRequests: 16 },
      ]) {
        const run = await collect(world, newFiguresRun(wanted(changes), MONDAY));
        expect(run).toMatchObject({ state: 'ended', requests: 0, pages: { state: 'complete' } });
        const pages = await world.context.figures.pages(pagesOf(run), rangeKey(range));
        expect(pages.toSorted(byPath)).toEqual(platformPages(world).toSorted(byPath));
      }
      expect(world.platform.analyticsRequests().views).toBe(before);
    },
  );

  test('a list of pages of days that could still change is read again', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const today = { range: { from: '2026-09-20', to: '2026-09-22' } };
    const first = await collect(world, newFiguresRun(wanted(today), MONDAY));
    world.nowMs += 3 * 24 * HOUR_MS;
    const again = await collect(world, newFiguresRun(wanted({ ...today, maxRequests: 15 }), world.nowMs));
    // All but the day that was over.
    expect(again.requests).toBe(first.requests - 1);
  });

  test('ends after an hour without the project in the settings', async () => {
    const world = await digestWorld(redis.client, MONDAY, { context: { projectId: () => undefined } });
    const run = await collect(world, newFiguresRun(wanted(), MONDAY));
    expect(run).toMatchObject({ state: 'ended', failed: 'project', requests: 0 });
    expect(world.nowMs).toBe(MONDAY + HOUR_MS);
  });

  test('goes on at once when the clock was set back meanwhile', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const run = newFiguresRun(wanted(), MONDAY + 5 * HOUR_MS);
    expect(await collect(world, run, 60_000)).toMatchObject({ state: 'ended', pages: { state: 'complete' } });
  });

  test('a platform that wants to be left alone for hours is asked again after one, and not before', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const headers = { 'Retry-After': '7200' };
    world.platform.wire.order('GET /v1/analytics/{projectId}/views', {
      kind: 'answer',
      status: 503,
      headers,
    });
    const run = await collect(world, newFiguresRun(wanted(), MONDAY), HOUR_MS - 1);
    expect(run).toMatchObject({ requests: 1, nextMs: MONDAY + HOUR_MS });
    await world.drive(figuresJob, run.id);
    expect(world.platform.analyticsRequests().views).toBeGreaterThan(7);
    expect(world.nowMs).toBe(MONDAY + HOUR_MS);
  });

  test('days that are kept are not asked for again', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    await collect(world, newFiguresRun(wanted({ pages: false }), MONDAY));
    const again = await collect(world, newFiguresRun(wanted({ pages: false, readers: true }), MONDAY));
    expect(again).toMatchObject({ state: 'ended' });
    expect(world.platform.analyticsRequests().views).toBe(7);
    const span = await collect(world, newFiguresRun(wanted({ pages: false, spans: [range] }), MONDAY));
    expect(span.requests).toBe(0);
    expect(addCounts(span.spans.flatMap(({ counts }) => counts ?? []))).toEqual(
      addCounts(again.spans.flatMap(({ counts }) => counts ?? [])),
    );
  });

  test('a day that is not over is asked for each time', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const today = { from: '2026-09-21', to: '2026-09-22' };
    await collect(world, newFiguresRun(wanted({ range: today, pages: false }), MONDAY));
    world.nowMs += HOUR_MS;
    const later = newFiguresRun(wanted({ range: today, pages: false, maxRequests: 5 }), world.nowMs);
    expect((await collect(world, later)).requests).toBe(1);
  });

  test('goes on where it stopped when a process dies between any two writes', async () => {
    const world = await digestWorld(redis.client, MONDAY, { platform: { pages: 1200 } });
    const run = newFiguresRun(wanted(), MONDAY);
    await world.accept(run);
    let saves = 0;
    const { runs } = world.context;
    const dying = {
      ...world.context,
      runs: {
        ...runs,
        async save<R extends RunBase>(next: R, release?: boolean) {
          saves += 1;
          if (saves % 2 === 0) throw new Error('died before the save');
          return runs.save(next, release);
        },
      },
    };
    for (;;) {
      const outcome = await figuresJob.run({ runId: run.id }, dying).catch(() => undefined);
      if (outcome?.kind === 'done') break;
    }
    const pages = await world.context.figures.pages(pagesOf(run), rangeKey(range));
    expect(pages.toSorted(byPath)).toEqual(platformPages(world).toSorted(byPath));
  });

  test('pages whose path holds an e-mail address are not kept, and the others all are', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const docs = world.context.docs('acme');
    if (docs === undefined) throw new Error('no client');
    const counts = { human: 1, ai: 0, total: 1 };
    const paged = {
      ...docs,
      async getPageViews({ offset = 0, limit = 50 }) {
        const parts = [{ leftOut: 250 }, { views: [{ path: '/a', ...counts }], leftOut: 249 }, {}];
        const part = { views: [], ...(limit === 1 ? {} : parts[offset / 250]) };
        return { totals: counts, hasMore: limit > 1 && offset < 500, ...part };
      },
    };
    const run = newFiguresRun(wanted({ spans: [range] }), MONDAY);
    await world.accept(run);
    await figuresJob.run({ runId: run.id }, { ...world.context, docs: () => paged });
    const after = await world.context.runs.load(run.id, figuresRun);
    expect(after).toMatchObject({ state: 'ended', requests: 4, pages: { state: 'complete' } });
    expect(await world.context.figures.pages(pagesOf(run), rangeKey(range))).toEqual([
      { path: '/a', human: 1, ai: 0 },
    ]);
  });

  test('stops at the requests that it may make, totals first', async () => {
    const world = await digestWorld(redis.client, MONDAY, { platform: { pages: 5000 } });
    const run = await collect(world, newFiguresRun(wanted({ maxRequests: 15, urgent: true }), MONDAY));
    expect(run).toMatchObject({ requests: 15, pages: { state: 'tooMany' }, state: 'ended' });
    expect(hasTotals(run)).toBe(true);
  });

  test('a page that the platform moves between two requests counts once', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const docs = world.context.docs('acme');
    if (docs === undefined) throw new Error('no client');
    const views = ['/a', '/b', '/c', '/a'].map((path, index) => ({
      path,
      human: 10,
      ai: index,
      total: 10 + index,
    }));
    const moving = {
      ...docs,
      async getPageViews({ offset = 0, limit = 50 }) {
        const totals = { human: 30, ai: 6, total: 36 };
        const rows = limit === 1 ? [] : views.slice(offset, offset + 2);
        return { totals, views: rows, hasMore: offset + 2 < views.length };
      },
    };
    const context = { ...world.context, docs: () => moving };
    const run = newFiguresRun(wanted({ spans: [range] }), MONDAY);
    await world.accept(run);
    await figuresJob.run({ runId: run.id }, context);
    const pages = await context.figures.pages(pagesOf(run), rangeKey(range));
    expect(pages.toSorted(byPath)).toEqual([
      { path: '/a', human: 10, ai: 3 },
      { path: '/b', human: 10, ai: 1 },
      { path: '/c', human: 10, ai: 2 },
    ]);
  });

  test.each([
    [
      { human: -5, ai: 1.6 },
      { human: 0, ai: 2 },
    ],
    [
      { human: 1e300, ai: 0 },
      { human: Number.MAX_SAFE_INTEGER, ai: 0 },
    ],
  ])('odd numbers (%j) become whole ones', async (totals, expected) => {
    const world = await digestWorld(redis.client, MONDAY);
    const docs = world.context.docs('acme');
    if (docs === undefined) throw new Error('no client');
    const odd = {
      ...docs,
      getPageViews: async () => ({ totals: { ...totals, total: 1 }, views: [], hasMore: false }),
    };
    const run = newFiguresRun(wanted({ spans: [range], pages: false }), MONDAY);
    await world.accept(run);
    await figuresJob.run({ runId: run.id }, { ...world.context, docs: () => odd });
    expect((await world.context.runs.load(run.id, figuresRun))?.spans[0]?.counts).toEqual(expected);
  });
});
