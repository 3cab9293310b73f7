import { expect, test } from 'vitest';
import { earliestSafe } from '../../../../src/jobs/digest/schedule-times.ts';
import {
  aSchedule,
  DAY_MS,
  MONDAY_MS,
  onScheduleWorlds,
  type ScheduleWorld,
} from '../../../support/jobs/digest/schedule-world.ts';

let world: ScheduleWorld;
onScheduleWorlds((fresh) => {
  world = fresh;
});

const zones = ['Europe/Berlin', 'America/New_York', 'Pacific/Auckland', 'UTC'];
const timetables = zones.flatMap((zone) => [
  { weekday: 1, time: '09:00', zone },
  { weekday: 5, time: '16:30', zone },
  { weekday: 7, time: '02:30', zone },
]);

/** The local weekday and time of a moment, by another way than the one under test. */
const localTime = (ms: number, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' })
    .format(ms)
    .replace(',', '');

test.each(timetables)(
  '364 days of $weekday $time $zone give 52 digests, each once and of the week that is just over',
  async (wanted) => {
    const timetable = earliestSafe(wanted, MONDAY_MS) ?? wanted;
    const run = await world.given(aSchedule({ timetable }));
    await world.until(MONDAY_MS + 364 * DAY_MS, [run]);

    expect(world.digests).toHaveLength(52);
    expect(new Set(world.digests.map(({ week }) => week)).size).toBe(52);
    for (const [index, { atMs, range, late }] of world.digests.entries()) {
      const endMs = Date.parse(`${range.to}T00:00:00Z`);
      expect(new Date(endMs).getUTCDay()).toBe(1);
      expect(atMs).toBeGreaterThanOrEqual(endMs + DAY_MS / 24);
      expect(atMs).toBeLessThan(endMs + 7 * DAY_MS);
      expect(late).toBeUndefined();
      const before = world.digests[index - 1];
      if (before) expect(before.range.to).toBe(range.from);
    }
    const times = new Map<string, number>();
    for (const { atMs } of world.digests) {
      const time = localTime(atMs, timetable.zone);
      times.set(time, (times.get(time) ?? 0) + 1);
    }
    const [[usual = '', often = 0] = []] = [...times].toSorted(([, one], [, other]) => other - one);
    expect(usual.endsWith(timetable.time)).toBe(true);
    // 02:30 is skipped on the Sunday on which the clocks are set forward.
    expect(often).toBeGreaterThanOrEqual(timetable.time === '02:30' ? 51 : 52);
    expect(world.posts).toHaveLength(1);
  },
);
