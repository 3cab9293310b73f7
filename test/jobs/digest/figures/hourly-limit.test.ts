import { describe, expect, test } from 'vitest';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { analyticsLimit } from '../../../../src/jobs/digest/figures/limits.ts';
import { newFiguresRun } from '../../../../src/jobs/digest/figures/record.ts';
import { collectAgain } from '../../../../src/jobs/digest/figures/transitions.ts';
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

  test('counts every request that was sent: what the platform lacks, what failed, what is asked anew', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const { wire, readers } = world.platform;
    for (const part of ['searches', 'assistant'] as const) readers.without.set(part, 404);
    wire.order('GET /v1/analytics/{projectId}/views', { kind: 'answer', status: 500 }, 2);
    wire.order('GET /v1/analytics/{projectId}/feedback/by-page', { kind: 'answer', status: 500 }, 9);
    const run = await collect(world, newFiguresRun(wanted({ pages: false, readers: true }), MONDAY));
    // A request for each day and two again; three for feedback, one for each other part.
    expect(run.requests).toBe(7 + 2 + 3 + 3);
    const { keyId = '' } = world.context.docs('acme') ?? {};
    const used = async () => (await world.context.rateLimiter.usage(analyticsLimit(keyId, 10_000))).used;
    expect(await used()).toBe(15);
    const today = { from: '2026-09-21', to: '2026-09-22' };
    const asked = () => newFiguresRun(wanted({ range: today, pages: false, urgent: true }), world.nowMs);
    const first = await collect(world, asked());
    world.nowMs += 1;
    const again = collectAgain(first, asked(), world.nowMs);
    if (again === undefined) throw new Error('it could not change any more');
    await world.context.runs.resume(again, Number.MAX_SAFE_INTEGER, 0);
    await world.drive(figuresJob, again.id);
    expect(await used()).toBe(17);
    expect(wire.calls).toHaveLength(17);
  });

  test('is not waited for for ever', async () => {
    const world = await digestWorld(redis.client, MONDAY, { context: { limits: { analyticsPerHour: 5 } } });
    const run = await collect(world, newFiguresRun(wanted(), MONDAY));
    expect(run).toMatchObject({ state: 'ended', failed: 'platform' });
    expect(world.nowMs - MONDAY).toBeGreaterThanOrEqual(48 * HOUR_MS);
  });

  test('of the platform holds everybody up until it says', async () => {
    const world = await digestWorld(redis.client, MONDAY, {
      platform: { analyticsPerHour: 3, retryAfter: true },
    });
    const run = await collect(world, newFiguresRun(wanted(), MONDAY), 60_000);
    // The last one was refused.
    expect(run.requests).toBe(4);
    expect(run.trouble).toMatchObject({ kind: 'limit' });
    expect((run.limitedUntilMs ?? 0) - world.nowMs).toBeGreaterThan(30 * 60_000);
  });

  test('a rejected key alerts the admins, and collecting goes on with a new one', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const docs = world.context.docs('acme');
    const alerts: string[] = [];
    world.platform.wire.order('GET /v1/analytics/{projectId}/views', {
      kind: 'answer',
      status: 401,
    });
    Object.assign(world.context, {
      docs: () => docs,
      async alertAdmins(_: string, project: string) {
        alerts.push(project);
        return true;
      },
    });
    const run = await collect(world, newFiguresRun(wanted(), MONDAY));
    expect(alerts).toEqual(['acme']);
    expect(run).toMatchObject({ state: 'ended', pages: { state: 'complete' } });
  });
});
