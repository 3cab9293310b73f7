import { expect, test } from 'vitest';
import { exportRun } from '../../../src/jobs/export/record.ts';
import { exportScheduleJob } from '../../../src/jobs/export-schedule/job.ts';
import { exportSchedule } from '../../../src/jobs/export-schedule/record.ts';
import type { Timetable } from '../../../src/jobs/schedule/timetable.ts';
import { anEnding } from '../../support/jobs/export/builders.ts';
import { anExportSchedule } from '../../support/jobs/export-schedule/builders.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
// In this year Samoa skipped a day.
const START_MS = Date.UTC(2011, 8, 1);
const END_MS = START_MS + 364 * DAY_MS;

/** Docket does not run in these: six hours, 20 hours and three days, the first two over a change of clocks. */
const OUTAGES = [
  [Date.UTC(2011, 9, 29, 22, 40), 6],
  [Date.UTC(2011, 11, 30, 4, 40), 20],
  [Date.UTC(2012, 2, 24, 12, 40), 72],
].map(([fromMs = 0, hours = 0]) => ({ fromMs, toMs: fromMs + hours * 60 * MINUTE_MS }));

/** Returns the first moment from then on at which Docket runs. */
const runsAt = (ms: number) => OUTAGES.find(({ fromMs, toMs }) => fromMs <= ms && ms < toMs)?.toMs ?? ms;

/** A daily and a weekly time in each zone, near its change of clocks if it has one. */
const TIMETABLES: Timetable[] = [
  ['Europe/Berlin', '02:30', 7],
  ['America/New_York', '02:30', 7],
  ['America/St_Johns', '00:15', 7],
  ['America/Sao_Paulo', '00:00', 7],
  ['Asia/Tehran', '00:30', 4],
  ['Asia/Kathmandu', '06:00', 1],
  ['Australia/Lord_Howe', '02:15', 7],
  ['Pacific/Apia', '23:45', 5],
  ['Africa/Casablanca', '03:00', 7],
  ['UTC', '12:00', 6],
].flatMap(([zone, time, weekday]) => [{ zone, time } as Timetable, { zone, time, weekday } as Timetable]);

/** The first moment at which a zone's clock shows each quarter of an hour, by what it shows, written as a time in UTC. */
function clockOf(timeZone: string): Map<number, number> {
  const parts = ['year', 'month', 'day', 'hour', 'minute'].map((part) => [part, 'numeric']);
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, ...Object.fromEntries(parts) });
  const clock = new Map<number, number>();
  for (let ms = START_MS - 3 * DAY_MS; ms < END_MS + 3 * DAY_MS; ms += QUARTER_MS) {
    const shown = Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
    if (!clock.has(shown)) clock.set(shown, ms);
  }
  return clock;
}

/** Returns all due times of the year, read off the zone's clock. What it skips is due later by as much. */
function dueTimesOf({ time, weekday, zone }: Timetable): number[] {
  const clock = clockOf(zone);
  const due = new Set<number>();
  for (let dayMs = START_MS - 2 * DAY_MS; dayMs < END_MS + 2 * DAY_MS; dayMs += DAY_MS) {
    if (weekday !== undefined && new Date(dayMs).getUTCDay() !== weekday % 7) continue;
    const wanted = Date.parse(`${new Date(dayMs).toISOString().slice(0, 10)}T${time}Z`);
    let skippedMs = 0;
    while (!clock.has(wanted - skippedMs)) skippedMs += QUARTER_MS;
    due.add((clock.get(wanted - skippedMs) ?? 0) + skippedMs);
  }
  return [...due].filter((ms) => START_MS < ms && ms < END_MS);
}

/** Returns those that are exported: of the missed ones the last, up to a day late. */
const exportedOf = (due: readonly number[]) =>
  due.filter((ms, index) => {
    const atMs = runsAt(ms);
    return atMs === ms || (atMs - ms <= DAY_MS && !((due[index + 1] ?? Infinity) <= atMs));
  });

test('a year of 20 schedules in ten zones, with three outages, misses and doubles no export', async () => {
  let nowMs = START_MS;
  const context = jobContext(redis.client, {
    now: () => nowMs,
    outbox: {
      publish: async () => {},
      deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1.1' }),
    },
  });
  const { runs } = context.store;
  const schedules = TIMETABLES.map((timetable, index) =>
    anExportSchedule({
      ...{ id: `schedule-${index}`, site: `${index}.acme.com`, timetable },
      ...{ state: 'testing', sinceMs: START_MS, nextAtMs: START_MS },
    }),
  );
  for (const schedule of schedules) await runs.accept(schedule);
  const nextMs = new Map(schedules.map(({ id }) => [id, START_MS]));
  const exported = new Map<string, number[]>(schedules.map(({ id }) => [id, []]));

  for (;;) {
    const [id, dueMs] = [...nextMs].reduce((first, one) => (one[1] < first[1] ? one : first));
    nowMs = runsAt(Math.max(nowMs, dueMs));
    if (nowMs >= END_MS) break;
    const inMs = (await stepJob(exportScheduleJob, id, context)) ?? Infinity;
    const begun = await runs.activeOf(exportRun, 'export', 'T0ACME');
    for (const run of begun) {
      const { latest } = (await runs.load(id, exportSchedule)) ?? {};
      expect(run).toMatchObject({ schedule: id, id: latest?.run });
      expect(runsAt(latest?.dueAtMs ?? 0)).toBe(nowMs);
      exported.get(id)?.push(latest?.dueAtMs ?? 0);
      const saved = await runs.saveStep({ ...run, state: 'ended', ending: anEnding.done });
      if (saved) await runs.markIdle(saved.run, true);
    }
    // The end of an export wakes its schedule.
    nextMs.set(id, nowMs + (begun.length > 0 ? 0 : Math.max(1, inMs)));
  }

  for (const { id, timetable } of schedules)
    expect({ timetable, exported: exported.get(id) }).toEqual({
      timetable,
      exported: exportedOf(dueTimesOf(timetable)),
    });
}, 240_000);
