import { expect, test } from 'vitest';
import { DocsApiError } from '../../../src/docs-api/errors.ts';
import { rootKey, scheduledId } from '../../../src/jobs/digest/edition/record.ts';
import { earliestSafe, lastPeriod, periodNameOf, rangeAfter } from '../../../src/jobs/digest/weeks.ts';
import { nextOccurrence, type Timetable } from '../../../src/jobs/schedule/timetable.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { keys } from '../../../src/store/keys.ts';
import { createStores } from '../../../src/store/stores.ts';
import { aSchedule } from '../../support/jobs/digest/builders.ts';
import { mortal, simulation } from '../../support/jobs/digest/simulation.ts';
import { jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';
import { seeded } from '../../support/seeded.ts';

const redis = redisForTests();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// A year and some days: its months have 28 to 31 days, and the last one is a February with a leap day.
const START_MS = Date.UTC(2027, 1, 26);
const END_MS = Date.UTC(2028, 2, 9);

const outage = (from: string, hours: number) => {
  const fromMs = Date.parse(from);
  return { fromMs, toMs: fromMs + hours * HOUR_MS };
};
/** Docket does not run in these: the second one covers a Monday that is the first of a month. */
const STOPS = [
  outage('2027-05-31T20:00Z', 30),
  outage('2027-10-31T12:00Z', 72),
  outage('2028-03-01T00:00Z', 5),
];
/** The platform gives no numbers in these. */
const SILENT = [
  outage('2027-08-01T00:30Z', 72),
  outage('2028-01-31T22:00Z', 40),
  outage('2028-02-29T23:00Z', 3),
];
const isIn = (outages: typeof STOPS, ms: number) =>
  outages.find(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);

const ZONES: [zone: string, time: string, weekday: number][] = [
  ['Europe/Berlin', '09:00', 1],
  ['Europe/Berlin', '02:30', 7],
  ['America/New_York', '16:30', 5],
  ['America/St_Johns', '00:15', 2],
  ['Pacific/Auckland', '14:00', 1],
  ['Pacific/Kiritimati', '23:45', 3],
  ['Pacific/Honolulu', '00:00', 4],
  ['Asia/Kathmandu', '06:45', 1],
  ['Africa/Casablanca', '03:00', 6],
  ['UTC', '01:00', 1],
];
const TIMETABLES = ZONES.flatMap(([zone, time, weekday]): Timetable[] => [
  { zone, time, weekday },
  { zone, time, monthly: true },
]).map((one) => (one.monthly ? one : (earliestSafe(one, START_MS) ?? one)));

/** The local time of a moment, computed in another way than the code under test does. */
const localTime = (ms: number, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(ms);

test('a year of 20 schedules in ten zones, half of them monthly, with kills and outages', async () => {
  const clock = { nowMs: START_MS };
  const random = seeded(7);
  let kills = 0;
  const dies = () => {
    const isDead = random() < 1 / 1000;
    kills += Number(isDead);
    return isDead;
  };
  const { runs, figures } = createStores(redis.client);
  const shown = new Map<string, number>();
  const digests = simulation(clock);
  const stores = { runs: mortal(runs, dies), figures: mortal(figures, dies) };
  const context = jobContext(redis.client, {
    ...stores,
    now: () => clock.nowMs,
    wake: digests.wake,
    limits: { analyticsPerHour: 10_000 },
    timing: { ...defaultTiming, digestsPerMinute: 100_000 },
    outbox: mortal(
      {
        publish: async (_team: string, { key }: { key: string }) =>
          void (shown.has(key) || shown.set(key, clock.nowMs)),
        deliveryState: async () => ({ kind: 'shown' as const, channel: 'C0DOCS', ts: '1.1' }),
      },
      dies,
    ),
    docs: () =>
      ({
        async getPageViews({ limit }: { limit: number }) {
          if (isIn(SILENT, clock.nowMs))
            throw new DocsApiError('getPageViews', 'server', { happened: 'no', what: '503', status: 503 });
          const views = [{ path: '/', human: 70, ai: 7, total: 77 }];
          return { totals: { human: 70, ai: 7, total: 77 }, views: limit === 1 ? [] : views, hasMore: false };
        },
      }) as never,
  });
  const schedules = TIMETABLES.map((timetable, index) =>
    aSchedule({
      ...{ id: `schedule-${index}`, channel: `C0${index >> 1}`, timetable, sections: ['pages'] },
      ...{ state: 'testing', sinceMs: START_MS, nextAtMs: START_MS },
    }),
  );
  for (const schedule of schedules) {
    await runs.accept(schedule);
    await digests.wake(schedule);
  }
  const passTo = (ms: number) => {
    clock.nowMs = isIn(STOPS, ms)?.toMs ?? ms;
  };
  await digests.goOn(END_MS, context, passTo, () => (isIn(SILENT, clock.nowMs) ? HOUR_MS : 1));

  expect(kills).toBeGreaterThan(20);
  const known = new Set<string>();
  const missed: string[] = [];
  for (const { timetable, channel } of schedules) {
    let moved = 0;
    let { range } = lastPeriod(timetable, START_MS);
    for (; Date.parse(range.to) < END_MS; range = rangeAfter(range)) {
      const name = periodNameOf(range) ?? '';
      const id = scheduledId({ teamId: 'T0ACME', project: 'acme', channel }, name);
      const key = rootKey({ id });
      known.add(key);
      const finalMs = Date.parse(range.to) + HOUR_MS;
      const dueMs = nextOccurrence(timetable, finalMs - 1);
      if (dueMs < START_MS || dueMs > END_MS - 2 * DAY_MS) continue;
      const postedMs = shown.get(key);
      const hours = Array.from({ length: 49 }, (_, hour) => dueMs + hour * HOUR_MS);
      const outages = hours.filter((ms) => isIn(STOPS, ms) ?? isIn(SILENT, ms));
      if (postedMs === undefined) missed.push(`${outages.length === 49} ${name}`);
      if (postedMs === undefined || outages.length > 0) continue;
      expect(postedMs).toBeGreaterThanOrEqual(finalMs);
      expect(postedMs - dueMs).toBeLessThan(5 * 60_000);
      // [Run now] finds it until the next one.
      if (timetable.monthly) expect(await redis.client.pttl(keys.run(id))).toBeGreaterThan(35 * DAY_MS);
      if (localTime(dueMs, timetable.zone) !== timetable.time) moved += 1;
    }
    // Only a time that the clocks skip once a year is later by as much.
    expect(moved).toBeLessThan(2);
  }
  // One is missed only if the outages leave no hour of its grace.
  expect(missed.length).toBeGreaterThan(10);
  expect(missed.filter((one) => !one.startsWith('true'))).toEqual([]);
  expect([...shown.keys()].filter((key) => key.endsWith('.digest') && !known.has(key))).toEqual([]);
}, 240_000);
