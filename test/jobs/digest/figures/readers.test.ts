import { describe, expect, test } from 'vitest';
import { newFiguresRun } from '../../../../src/jobs/digest/figures/record.ts';
import { collect, MONDAY, range, wanted } from '../../../support/jobs/digest/figures.ts';
import { type DigestWorld, digestWorld } from '../../../support/jobs/digest/world.ts';
import { redisForTests } from '../../../support/redis.ts';

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
});
