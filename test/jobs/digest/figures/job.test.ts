import { describe, expect, test } from 'vitest';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { analyticsLimit, backgroundLimit } from '../../../../src/jobs/digest/figures/limits.ts';
import {
  collectFigures,
  type FiguresRun,
  figuresRun,
  hasTotals,
  newFiguresRun,
  rangeKey,
} from '../../../../src/jobs/digest/figures/record.ts';
import { addCounts, type DayRange } from '../../../../src/jobs/digest/model.ts';
import type { RunBase } from '../../../../src/store/runs.ts';
import { collect, MONDAY, range, wanted } from '../../../support/jobs/digest/figures.ts';
import { type DigestWorld, digestWorld } from '../../../support/jobs/digest/world.ts';
import { redisForTests } from '../../../support/redis.ts';

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
    const pages = await world.context.figures.pages(run, rangeKey(range));
    expect(pages.toSorted(byPath)).toEqual(platformPages(world).toSorted(byPath));
    // One request a day, and one for each 250 pages.
    expect(run.requests).toBe(7 + Math.ceil(pages.length / 250));
    expect(world.platform.analyticsRequests().views).toBe(run.requests);
  });

  test.each([10_000, 9_999])(
    'asks for nothing in vain, and no slot of the hour is lost: %i pages',
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
    const pages = await world.context.figures.pages(run, rangeKey(range));
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
    expect(await world.context.figures.pages(run, rangeKey(range))).toEqual([
      { path: '/a', human: 1, ai: 0 },
    ]);
  });

  test('collects again what was not final, or failed; else once', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const ends = async (wantedRange: DayRange, changes: Partial<FiguresRun> = {}) => {
      const run = newFiguresRun(wanted({ range: wantedRange, pages: false }), world.nowMs);
      await collectFigures(run, world.context);
      const known = await world.context.runs.load(run.id, figuresRun);
      if (known) await world.context.runs.save({ ...known, state: 'ended', requests: 9, ...changes });
      world.nowMs += 3_600_000;
      await collectFigures(run, world.context);
      return (await world.context.runs.load(run.id, figuresRun))?.state;
    };
    expect(await ends(range)).toBe('ended');
    expect(await ends({ from: '2026-09-20', to: '2026-09-22' })).toBe('collecting');
    expect(await ends({ from: '2026-09-13', to: '2026-09-20' }, { failed: 'platform' })).toBe('collecting');
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
    const pages = await context.figures.pages(run, rangeKey(range));
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
