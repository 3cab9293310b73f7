import { expect, test } from 'vitest';
import { rootKey, scheduledId } from '../../../src/jobs/digest/edition/record.ts';
import type { RowRun } from '../../../src/jobs/digest/row/record.ts';
import { daysOf, lastPeriod } from '../../../src/jobs/digest/weeks.ts';
import type { Timetable } from '../../../src/jobs/schedule/timetable.ts';
import { keys } from '../../../src/store/keys.ts';
import { askTime } from '../../../src/store/redis/clock.ts';
import { aProject } from '../../support/commands/builders.ts';
import { aRow, aSchedule } from '../../support/jobs/digest/builders.ts';
import { simulation } from '../../support/jobs/digest/simulation.ts';
import { type DigestWorld, digestWorld } from '../../support/jobs/digest/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** 09:00 on a Monday that is the first of a month. */
const DUE_MS = Date.UTC(2027, 10, 1, 9);
const PER_HOUR = 100;

/** Redis' own clock cannot be moved: moves all uses of the limits into the past instead. */
const SHIFT = `for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local uses = redis.call('TYPE', key).ok == 'zset' and redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') or {}
  for at = 1, #uses, 2 do
    redis.call('ZADD', key, string.format('%.3f', tonumber(uses[at + 1]) - tonumber(ARGV[2])), uses[at])
  end
end`;

const MONTHLY: Timetable = { monthly: true, time: '09:00', zone: 'UTC' };
const WEEKLY: Timetable = { weekday: 1, time: '09:00', zone: 'UTC' };

/** Has each project of one organization post digests, on a site of 300 pages. Returns when, and how many requests it took. */
async function post(
  projects: string[],
  timetables: readonly Timetable[],
  {
    prepare,
    dueMs = DUE_MS,
    days = 2,
  }: {
    prepare?: (world: DigestWorld, wake: (run: RowRun) => Promise<void>) => Promise<void>;
    dueMs?: number;
    days?: number;
  } = {},
) {
  const posted = new Map<string, number>();
  let mostInAnHour = 0;
  const world = await digestWorld(redis.client, dueMs - DAY_MS, {
    // It would refuse more than Docket's limit, so it only counts.
    platform: { analyticsPerHour: Number.POSITIVE_INFINITY, pages: 300 },
    context: {
      wake: (run) => digests.wake(run),
      limits: { analyticsPerHour: PER_HOUR },
      outbox: {
        publish: async (_team, { key }) => void (posted.has(key) || posted.set(key, world.nowMs)),
        deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1.1' }),
      },
      projects: projects.map((name) => aProject({ name, projectId: 'prj_acme', organization: 'acme' })),
    },
  });
  const digests = simulation(world);
  const schedules = projects.flatMap((project) =>
    timetables.map((timetable) => {
      const id = `${project} ${timetable.weekday}`;
      return aSchedule({ id, project, timetable, sinceMs: world.nowMs, nextAtMs: dueMs });
    }),
  );
  for (const schedule of schedules) {
    await world.accept(schedule);
    await digests.wake(schedule);
  }
  await prepare?.(world, digests.wake);
  let aheadMs = (await askTime(redis.client)) - world.nowMs;
  const passTo = async (ms: number) => {
    mostInAnHour = Math.max(mostInAnHour, world.platform.used.analytics());
    const nextAheadMs = (await askTime(redis.client)) - ms;
    await redis.client.eval(SHIFT, 0, keys.rateLimit('*'), aheadMs - nextAheadMs);
    aheadMs = nextAheadMs;
    world.nowMs = ms;
  };
  // What waits for figures looks at them less often than it would.
  const pauseMs = (job: string) => (job === 'digest-figures' ? 1 : 5 * MINUTE_MS);
  await digests.goOn(dueMs + days * DAY_MS, world.context, passTo, pauseMs);
  const lateMs = schedules.map(({ teamId, channel, project, timetable }) => {
    const id = scheduledId({ teamId, channel, project }, lastPeriod(timetable, dueMs).name);
    return (posted.get(rootKey({ id })) ?? Number.POSITIVE_INFINITY) - dueMs;
  });
  const requests = Object.values(world.platform.analyticsRequests()).reduce((sum, one) => sum + one, 0);
  return { lateMs, requests, mostInAnHour, kilobytes: await keptKilobytes() };
}

/** What Redis keeps of all digests. */
async function keptKilobytes(): Promise<number> {
  const all = await redis.client.keys(keys.run('').replace(/:run:$/, ':*'));
  const bytes = await Promise.all(all.map((key) => redis.client.memory('USAGE', key, 'SAMPLES', 0)));
  return bytes.reduce<number>((sum, one) => sum + Number(one), 0) / 1024;
}

// docs/using.md says how many requests, and how much Redis keeps.
test('a first month takes 25 requests, or 16 if a weekly digest has its days, and the next one 13', async () => {
  const alone = await post(['alone'], [MONTHLY]);
  expect(alone).toMatchObject({ requests: 25, lateMs: [0] });
  expect(alone.kilobytes).toBeLessThan(80);
  const both = await post(['both'], [MONTHLY], {
    prepare: async ({ context, nowMs }) => {
      // The last week has not ended, so the weekly digest has not read its days.
      for (const day of daysOf({ from: '2027-09-01', to: '2027-10-25' }))
        await context.store.figures.addDay(
          { teamId: 'T0ACME', project: 'both' },
          day,
          { human: 1, ai: 1 },
          nowMs,
        );
    },
  });
  expect(both).toMatchObject({ requests: 16, lateMs: [0] });
  const next = await post(['next'], [MONTHLY], { days: 32 });
  expect(next).toMatchObject({ requests: 25 + 13, lateMs: [0] });
});

test('ten weekly and ten monthly digests of one organization keep its limit on the first Monday of a month', async () => {
  const projects = Array.from({ length: 10 }, (_, at) => `p${at}`);
  const { requests, mostInAnHour, lateMs, kilobytes } = await post(projects, [WEEKLY, MONTHLY]);
  expect(mostInAnHour).toBeLessThanOrEqual(PER_HOUR);
  expect(requests).toBeGreaterThan(400);
  expect(kilobytes / 20).toBeLessThan(80);
  expect(Math.max(...lateMs)).toBeLessThan(HOUR_MS);
}, 240_000);

test.each([1, 2])(
  '30 rows hold up no digest that is due at %i:00 on Monday',
  async (hour) => {
    const projects = Array.from({ length: 4 }, (_, at) => `p${at}`);
    const monday = Date.UTC(2027, 10, 8);
    const timetable = { weekday: 1, time: `0${hour}:00`, zone: 'UTC' };
    const dueMs = monday + hour * HOUR_MS;
    // All but the last.
    const weeks = Array.from({ length: 12 }, (_, n) => {
      const from = new Date(monday - (n + 2) * 7 * DAY_MS).toISOString().slice(0, 10);
      return { from, numbers: {} };
    });
    const kinds = ['page', 'thumbs', 'search', 'questions'] as const;
    const prepare = async ({ accept, context, nowMs }: DigestWorld, wake: (run: RowRun) => Promise<void>) => {
      for (const project of projects)
        for (const day of daysOf({ from: '2027-09-20', to: '2027-11-01' }))
          await context.store.figures.addDay({ teamId: 'T0ACME', project }, day, { human: 1, ai: 1 }, nowMs);
      for (let n = 0; n < 30; n += 1) {
        const kind = kinds[n % kinds.length] ?? 'page';
        const mergedAtMs = monday - 31 * DAY_MS;
        const row = {
          id: `row${n}`,
          project: `p${n % 4}`,
          thread: `t${n}`,
          subject: { kind, name: `/${n}` },
        };
        const run = aRow({ ...row, mergedAtMs, askedAtMs: mergedAtMs - DAY_MS, state: 'merged', weeks });
        await accept(run);
        await wake(run);
      }
    };
    const { lateMs, mostInAnHour } = await post(projects, [timetable], { prepare, dueMs, days: 1 });
    expect(lateMs).toEqual(projects.map(() => 0));
    expect(mostInAnHour).toBeLessThanOrEqual(PER_HOUR);
  },
  240_000,
);
