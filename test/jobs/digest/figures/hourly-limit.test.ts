import { describe, expect, test } from 'vitest';
import { newFiguresRun } from '../../../../src/jobs/digest/figures/record.ts';
import { spansOf } from '../../../../src/jobs/digest/weeks.ts';
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

  test('one person has a share of it, and others the rest', async () => {
    const world = await digestWorld(redis.client, MONDAY, { context: { limits: { analyticsPerHour: 60 } } });
    const asks = (by: string, month: string) => {
      const days = { from: `2026-${month}-01`, to: `2026-${month}-15` };
      const asked = wanted({
        range: days,
        spans: spansOf(days),
        urgent: true,
        by,
        pages: false,
        maxRequests: 20,
      });
      return collect(world, newFiguresRun(asked, world.nowMs), 1000);
    };
    const own = [await asks('U0ANA', '02'), await asks('U0ANA', '03'), await asks('U0ANA', '04')];
    expect(own.map(({ requests }) => requests)).toEqual([14, 14, 12]);
    expect(own[2]?.limitedUntilMs).toBeGreaterThan(world.nowMs);
    expect(await asks('U0BEN', '05')).toMatchObject({ requests: 14, state: 'ended' });
  });
});
