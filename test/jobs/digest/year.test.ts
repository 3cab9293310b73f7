import { expect, test } from 'vitest';
import { editionRun } from '../../../src/jobs/digest/edition/record.ts';
import { scheduleJob } from '../../../src/jobs/digest/schedule/job.ts';
import { earliestSafe } from '../../../src/jobs/digest/weeks.ts';
import { aSchedule } from '../../support/jobs/digest/builders.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 8, 21, 6);
const END_MS = START_MS + 364 * DAY_MS;

/** The local weekday and time of a moment, computed in another way than the code under test does. */
const localTime = (ms: number, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' })
    .format(ms)
    .replace(',', '');

test.each(
  ['Europe/Berlin', 'America/New_York', 'Pacific/Auckland', 'UTC'].flatMap((zone) => [
    { weekday: 1, time: '09:00', zone },
    { weekday: 5, time: '16:30', zone },
    { weekday: 7, time: '02:30', zone },
  ]),
)('364 days of $weekday $time $zone give 52 digests, one for each week', async (typed) => {
  const timetable = earliestSafe(typed, START_MS) ?? typed;
  let nowMs = START_MS;
  const context = jobContext(redis.client, {
    now: () => nowMs,
    outbox: { deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1.1' }) },
  });
  const schedule = aSchedule({ timetable, state: 'testing', sinceMs: START_MS, nextAtMs: START_MS });
  await context.store.runs.accept(schedule);
  const digests: { atMs: number; week: string; from: string; to: string }[] = [];
  while (nowMs < END_MS) {
    const inMs = (await stepJob(scheduleJob, schedule.id, context)) ?? Infinity;
    const begun = await context.store.runs.activeOf(editionRun, 'digest', 'T0ACME');
    for (const run of begun) {
      digests.push({ atMs: nowMs, week: run.week ?? '', ...run.range });
      expect(run.late).toBeUndefined();
      const saved = await context.store.runs.saveStep({ ...run, state: 'ended', ended: { why: 'done' } });
      if (saved) await context.store.runs.markIdle(saved.run, true);
    }
    if (begun.length === 0) nowMs += Math.max(1, Math.min(inMs, END_MS - nowMs));
  }

  expect(digests).toHaveLength(52);
  expect(new Set(digests.map(({ week }) => week)).size).toBe(52);
  for (const [index, { atMs, from, to }] of digests.entries()) {
    const endMs = Date.parse(`${to}T00:00:00Z`);
    expect(new Date(endMs).getUTCDay()).toBe(1);
    expect(atMs).toBeGreaterThanOrEqual(endMs + HOUR_MS);
    expect(atMs).toBeLessThan(endMs + 7 * DAY_MS);
    expect(from).toBe(digests[index - 1]?.to ?? from);
  }
  const asked = digests.filter(({ atMs }) => localTime(atMs, timetable.zone).endsWith(timetable.time));
  // 02:30 does not exist on the Sunday on which the clocks are set forward.
  expect(asked.length).toBeGreaterThanOrEqual(timetable.time === '02:30' ? 51 : 52);
});
