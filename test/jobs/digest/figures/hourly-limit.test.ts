import { describe, expect, test } from 'vitest';
import { newFiguresRun } from '../../../../src/jobs/digest/figures/record.ts';
import { collect, MONDAY, wanted } from '../../../support/jobs/digest/figures.ts';
import { digestWorld } from '../../../support/jobs/digest/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const HOUR_MS = 3_600_000;

const redis = redisForTests();

describe('the hourly limit', () => {
  test('collecting leaves a fifth of it to people who ask, who go first', async () => {
    const world = await digestWorld(redis.client, MONDAY, { context: { limits: { analyticsPerHour: 10 } } });
    const run = await collect(world, newFiguresRun(wanted(), MONDAY), 60_000);
    expect(run.requests).toBe(8);
    expect(run.limitedUntilMs).toBeGreaterThan(MONDAY + HOUR_MS / 2);
    expect(run.limitedUntilMs).toBeLessThanOrEqual(MONDAY + HOUR_MS + 60_000);
    const today = { from: '2026-09-21', to: '2026-09-22' };
    const urgent = newFiguresRun(
      wanted({ range: today, urgent: true, pages: false, maxRequests: 15 }),
      MONDAY,
    );
    expect((await collect(world, urgent, 1000)).state).toBe('ended');
  });
});
