import { describe, expect, test } from 'vitest';
import { newFiguresRun } from '../../../../src/jobs/digest/figures/record.ts';
import { collect, MONDAY, range, wanted } from '../../../support/jobs/digest/figures.ts';
import { type DigestWorld, digestWorld } from '../../../support/jobs/digest/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const HOUR_MS = 3_600_000;

const redis = redisForTests();

describe('what readers looked for', () => {
  function tell({ platform: { readers } }: DigestWorld) {
    readers.silence(range.from, range.to);
    readers.setSearches('2026-09-14', [
      { searchQuery: 'sso okta', hits: 41 },
      { searchQuery: 'clicked', hits: 90, clicks: 3, topClickedPage: '/a' },
      { searchQuery: 'rare', hits: 9 },
      { searchQuery: 'reset password ana@example.com', hits: 50 },
    ]);
    readers.setFeedback('2026-09-15', [
      { path: '/guides/sso', thumbsUp: 2, thumbsDown: 9 },
      { path: '/liked', thumbsUp: 9, thumbsDown: 2 },
      { path: '/few', thumbsUp: 0, thumbsDown: 2 },
    ]);
    readers.setConversations('2026-09-16', [
      {
        resolutionStatus: 'unanswered',
        queryCategory: 'Authentication',
        query: 'my mail is ana@example.com',
      },
      { resolutionStatus: 'unanswered', queryCategory: 'Authentication' },
      { resolutionStatus: 'unanswered', queryCategory: null },
      { resolutionStatus: 'answered', queryCategory: 'Billing' },
    ]);
    readers.setVisitors(range.from, range.to, { human: 3000, ai: 200, total: 3120 });
  }

  test('is told where it calls for work, and nothing that a reader wrote is kept beside search terms', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    tell(world);
    const run = await collect(world, newFiguresRun(wanted({ pages: false, readers: true }), MONDAY));
    expect(run.readers?.figures).toEqual({
      visitors: { total: 3120 },
      searches: [{ query: 'sso okta', hits: 41 }],
      thumbs: [
        { path: '/guides/sso', up: 2, down: 9 },
        { path: '/few', up: 0, down: 2 },
        { path: '/liked', up: 9, down: 2 },
      ],
      questions: { asked: 4, unanswered: 3, category: 'Authentication' },
    });
    const keys = await redis.client.keys('*');
    const values = await Promise.all(keys.map((key) => redis.client.dump(key)));
    expect(values.join()).not.toContain('ana@example.com');
  });

  test('no more search terms are kept than a digest lists', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    tell(world);
    const terms = Array.from({ length: 30 }, (_, n) => ({ searchQuery: `term ${n}`, hits: 100 - n }));
    world.platform.readers.setSearches('2026-09-15', terms);
    const run = await collect(world, newFiguresRun(wanted({ pages: false, readers: true }), MONDAY));
    expect(run.readers?.figures.searches?.map(({ query }) => query)).toEqual(
      terms.slice(0, 5).map(({ searchQuery }) => searchQuery),
    );
  });

  test.each([
    [400, 1],
    [403, 1],
    [404, 24],
    [405, 24],
  ] as const)(
    'a part that the platform refuses or lacks (%i) is left out, and asked for %i hours later',
    async (status, hours) => {
      const world = await digestWorld(redis.client, MONDAY);
      tell(world);
      for (const part of ['searches', 'assistant'] as const) world.platform.readers.without.set(part, status);
      const run = await collect(world, newFiguresRun(wanted({ pages: false, readers: true }), MONDAY));
      expect(Object.keys(run.readers?.figures ?? {}).toSorted()).toEqual(['thumbs', 'visitors']);
      const asked = () => world.platform.analyticsRequests().searches;
      expect(asked()).toBe(1);
      await collect(world, newFiguresRun(wanted({ pages: false, readers: true, maxRequests: 40 }), MONDAY));
      expect(asked()).toBe(1);
      const lacks = await redis.client.keys('{docket}:lacks:*');
      expect(lacks).toHaveLength(2);
      for (const key of lacks) {
        const leftMs = await redis.client.pttl(key);
        expect(leftMs).toBeGreaterThan((hours - 0.1) * HOUR_MS);
        expect(leftMs).toBeLessThanOrEqual(hours * HOUR_MS);
      }
      await redis.client.del(...lacks);
      await collect(world, newFiguresRun(wanted({ pages: false, readers: true, maxRequests: 41 }), MONDAY));
      expect(asked()).toBe(2);
    },
  );

  test('a part that fails again and again is left out without a word, and nothing else is', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    tell(world);
    for (let fault = 0; fault < 9; fault += 1)
      world.platform.wire.order('GET /v1/analytics/{projectId}/searches', {
        kind: 'answer',
        status: 500,
      });
    const run = await collect(world, newFiguresRun(wanted({ pages: false, readers: true }), MONDAY));
    expect(run.state).toBe('ended');
    expect(Object.keys(run.readers?.figures ?? {}).toSorted()).toEqual(['questions', 'thumbs', 'visitors']);
  });
});
