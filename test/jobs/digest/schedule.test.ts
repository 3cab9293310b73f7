import { describe, expect, test } from 'vitest';
import { type Counts, comparePages } from '../../../src/jobs/digest/model.ts';
import { alertsOf, mostMoved, quietAfter, tellable } from '../../../src/jobs/digest/schedule/alerts.ts';
import { type Alert, scheduleTransitions as transitions } from '../../../src/jobs/digest/schedule/record.ts';
import { alertMessage } from '../../../src/jobs/digest/schedule/view.ts';
import { earliestSafe } from '../../../src/jobs/digest/schedule-times.ts';
import {
  aSchedule,
  createScheduleWorld,
  DAY_MS,
  DUE_MS,
  HOUR_MS,
  MONDAY_MS,
  onScheduleWorlds,
  type ScheduleWorld,
  WEEK_MS,
} from '../../support/jobs/digest/schedule-world.ts';
import type { JobContextParts } from '../../support/jobs/world.ts';

let world: ScheduleWorld;
let unusual: Record<string, Counts>;
const redis = onScheduleWorlds((fresh) => {
  world = fresh;
  unusual = {};
  world.views = (day) => unusual[day] ?? { human: 820, ai: 500 };
});

const low = { human: 310, ai: 500 };

/** A schedule with alerts, whose digest comes on Saturdays, so that it is not in the way. */
const alerting = () =>
  world.active({
    alerts: true,
    timetable: { weekday: 6, time: '09:00', zone: 'Europe/Berlin' },
    nextAtMs: DUE_MS + 5 * DAY_MS,
  });

/** Each alert by the day that it is about. */
const alerts = () => [...world.published.keys()].flatMap((key) => /\.alert\.(.+)$/.exec(key)?.[1] ?? []);

/** Nobody may set up digests. */
const refused = (active = true): JobContextParts => ({
  policy: {
    check: async (id) => ({
      kind: 'refused',
      person: { id, name: id, fullMember: true, active },
      ask: 'ana',
    }),
  },
});
const unknown: JobContextParts = { policy: { check: async () => ({ kind: 'unknown' }) } };

describe('done once', () => {
  test('by two processes that step at the same time', async () => {
    const run = await world.active();
    const other = await world.given({
      ...(await alerting()),
      id: 'other',
      claim: undefined,
      channel: 'C0OTHER',
    });
    unusual['2026-09-20'] = low;
    await world.until(DUE_MS - 1, [run, other]);
    for (let week = 0; week < 3; week += 1) {
      world.nowMs = DUE_MS + week * WEEK_MS;
      for (let times = 0; times < 6; times += 1) {
        await Promise.all([run, run, run, other, other].map(({ id }) => world.step(id)));
        await world.others();
      }
    }
    expect(new Set(world.weeks()).size).toBe(3);
    expect(alerts()).toEqual(['2026-09-20']);
    expect(await world.stored(run)).toMatchObject({ lastWeek: '2026-W40' });
  });

  /** A process that dies before its `nth` call that changes anything, or after it. */
  function dying(nth: number, after: boolean): { parts: JobContextParts; died: () => boolean } {
    let calls = 0;
    let died = false;
    const strike = async <T>(call: () => Promise<T>): Promise<T> => {
      calls += 1;
      const isLast = calls === nth;
      died ||= isLast;
      if (isLast && !after) throw new Error('killed');
      const result = await call();
      if (isLast) throw new Error('killed');
      return result;
    };
    const { runs, outbox } = world.context();
    const parts: JobContextParts = {
      runs: {
        ...runs,
        accept: (...all) => strike(() => runs.accept(...all)),
        saveStep: (...all) => strike(() => runs.saveStep(...all)),
        markIdle: (...all) => strike(() => runs.markIdle(...all)),
      },
      outbox: { publish: (...all) => strike(() => outbox.publish(...all)) },
      wake: () => strike(async () => {}),
    };
    return { parts, died: () => died };
  }

  test.each([
    ['set up and posted', () => {}],
    ['set up where it may not post', () => (world.delivery.state = { kind: 'refused', code: 'is_archived' })],
    ['and not posted', () => (world.ending = () => ({ why: 'place', code: 'is_archived' }))],
  ])('killed at each call of a schedule that is %s', async (_, given) => {
    const results = new Set<string>();
    for (let nth = 1, died = true; died; nth += 1)
      for (const after of [false, true]) {
        await redis.client.flushall();
        world = createScheduleWorld(redis);
        given();
        const run = await world.given(aSchedule());
        const process = dying(nth, after);
        const untilMs = DUE_MS + 3 * WEEK_MS;
        await world.until(untilMs, [run], process.parts).catch((error: unknown) => {
          if (!process.died()) throw error;
        });
        await world.until(untilMs, [run]);
        died = process.died();
        const { rev: _rev, ...stored } = await world.stored(run);
        const messages = [...world.published].map(([key, { message }]) => [key, message.text]);
        results.add(JSON.stringify([world.weeks(), messages, world.privately, { ...stored, sinceMs: 0 }]));
      }
    expect([...results]).toHaveLength(1);
  });
});

describe('the owner', () => {
  test('who may no longer set up digests: it pauses, and only the owner hears of it', async () => {
    const ben = { id: 'U0BEN', name: 'ben' };
    const run = await world.active({ alerts: true });
    unusual['2026-09-20'] = low;
    await world.until(DUE_MS + 2 * WEEK_MS, [run], refused());
    expect(world.weeks()).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedBy: 'permission' });
    expect([...world.published.values()].map(({ place }) => place)).toEqual([{ user: 'U0ANA' }]);
    await world.change(run, (it) => transitions.resume(it, ben, world.nowMs));
    await world.until(DUE_MS + 3 * WEEK_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W41']);
    expect((await world.stored(run)).pausedBy).toBeUndefined();
  });

  test('of whom Slack says nothing is asked about again soon; what is due comes late', async () => {
    unusual['2026-09-20'] = low;
    const all = [await world.active(), await alerting()];
    await world.until(DUE_MS + 2 * HOUR_MS, all, unknown);
    expect(world.posts).toEqual([]);
    await world.until(DUE_MS + 2 * HOUR_MS + 60_000, all);
    expect(world.digests).toMatchObject([{ week: '2026-W38', dueAtMs: DUE_MS }]);
  });

  test('who has left has unusual days posted, as the digest is', async () => {
    unusual['2026-09-20'] = low;
    const run = await alerting();
    await world.until(DUE_MS + 60_000, [run], refused(false));
    expect(alerts()).toEqual(['2026-09-20']);
  });
});

test.each([
  ['Europe/Berlin', 1, '09:00'],
  ['Europe/Berlin', 7, '02:30'],
  ['America/New_York', 5, '16:30'],
  ['Pacific/Auckland', 1, '09:00'],
])('364 days in %s give 52 digests, each once and of the week just over', async (zone, weekday, time) => {
  const wanted = { weekday, time, zone };
  const run = await world.given(aSchedule({ timetable: earliestSafe(wanted, MONDAY_MS) ?? wanted }));
  await world.until(MONDAY_MS + 364 * DAY_MS, [run]);
  expect(new Set(world.weeks()).size).toBe(52);
  expect(world.digests).toHaveLength(52);
  for (const [index, { atMs, range, late }] of world.digests.entries()) {
    const sinceMs = atMs - Date.parse(`${range.to}T00:00:00Z`);
    expect(sinceMs).toBeGreaterThanOrEqual(HOUR_MS);
    expect(sinceMs).toBeLessThan(WEEK_MS);
    expect(late).toBeUndefined();
    const before = world.digests[index - 1];
    if (before) expect(before.range.to).toBe(range.from);
  }
});

test.each([
  ['Europe/Berlin', '2026-10-25', '02:30'],
  ['America/New_York', '2027-03-14', '20:30'],
  ['Pacific/Auckland', '2027-04-04', '13:30'],
])('no day is checked twice when the clocks change: %s, %s, %s', async (zone, day, time) => {
  const changeMs = Date.parse(`${day}T00:00:00Z`);
  world.nowMs = changeMs - 5 * DAY_MS;
  const nextAtMs = changeMs + 30 * DAY_MS;
  const timetable = { weekday: 2, time, zone };
  const run = await world.active({ alerts: true, timetable, sinceMs: world.nowMs, nextAtMs });
  await world.until(changeMs + 5 * DAY_MS, [run]);
  const checked = world.collected.filter((one) => one.run.spans.length === 57);
  const days = checked.map((one) => one.run.spans[0]?.from);
  // When the clocks go back, a day may be left out.
  expect(days).toEqual([...new Set(days)].toSorted());
  expect(days.length).toBeGreaterThanOrEqual(8);
});

describe('a day is unusual', () => {
  const day = (human: number, ai = 0) => ({ human, ai });
  /** A day and the 56 before it, the latest first. */
  const days = (now: number, ...before: number[]) => [
    day(now),
    ...Array.from({ length: 56 }, (_, at) => day(before[at % before.length] ?? 0)),
  ];

  test.each<[string, number, number[], boolean]>([
    ['39% less is not', 610, [1000], false],
    ['40% less is', 600, [1000], true],
    ['39% more is not', 1390, [1000], false],
    ['40% more is', 1400, [1000], true],
    // Half of the days are a tenth away from the others: a deviation of about 7%.
    ['four deviations are not', 800, [1000, 1500], false],
    ['more than four are', 200, [1000, 1100], true],
    ['where the day has 200', 200, [100], true],
    ['not where neither has', 199, [100], false],
    ['none at all where 20 are usual', 0, [20], true],
    ['not none at all where fewer are', 0, [19], false],
    ['not before 57 are known', 0, [], false],
  ])('%s', (_, now, before, isUnusual) => {
    expect(alertsOf(days(now, ...before))).toHaveLength(isUnusual ? 1 : 0);
  });

  test('a fall by a third that lasts for most of a week is told as one, that of a few days is not', () => {
    const fallen = (count: number) => days(650, 1000).map((one, ago) => (ago < count ? day(650) : one));
    expect(alertsOf(fallen(3))).toEqual([]);
    expect(alertsOf(fallen(7))).toEqual([{ by: 'human', now: 650, usual: 1000, lasting: true }]);
  });
});

describe('after an alert', () => {
  const alert = (by: Alert['by'], now: number, lasting = false): Alert => ({ by, now, usual: 1000, lasting });

  test.each<[string, Alert, Alert, string, boolean]>([
    ['the same is not told for a week', alert('human', 400), alert('human', 300), '2026-11-08', false],
    ['then it is', alert('human', 400), alert('human', 300), '2026-11-09', true],
    ['people are told after AI', alert('ai', 1400), alert('human', 400), '2026-11-04', true],
    ['a larger move the other way is told', alert('human', 1500), alert('human', 400), '2026-11-04', true],
    ['a smaller one is not', alert('human', 5000), alert('human', 400), '2026-11-04', false],
    ['no views at all are told', alert('human', 400), alert('human', 0), '2026-11-04', true],
    ['but once', alert('human', 0), alert('human', 0), '2026-11-04', false],
    ['a lasting fall is told', alert('human', 600, true), alert('human', 600, true), '2026-11-30', true],
    ['once in four weeks', alert('human', 600, true), alert('human', 600, true), '2026-11-29', false],
  ])('%s', (_, first, next, on, isTold) => {
    const quiet = quietAfter(undefined, [first], '2026-11-02');
    expect(tellable([next], quiet, on)).toEqual(isTold ? [next] : []);
  });

  test('the pages that moved are those that moved as the day did, the most moved first', async () => {
    const page = (path: string, human: number) => ({ path, human, ai: 0 });
    const now = [page('/a', 10), page('/b', 500), page('/c', 70), page('/d', 99)];
    const before = [page('/a', 1400), page('/b', 10), page('/c', 7000), page('/d', 700)];
    const pages = await comparePages([now], [before]);
    expect(mostMoved(pages, { by: 'human', now: 100, usual: 1000 }, 1, 7)).toEqual([
      { path: '/c', now: 70, before: 1000 },
      { path: '/a', now: 10, before: 200 },
    ]);
  });

  test('a hostile path does no harm in the line, and a site neither', () => {
    const path = `/<!channel>\n\u202e${'x'.repeat(2000)}`;
    const { text, blocks } = alertMessage(
      { site: '<!here> docs' },
      '2026-11-19',
      [{ by: 'ai', now: 1800, usual: 1000 }],
      [{ path, now: 900, before: 100 }],
    );
    expect(text).not.toMatch(/<!|\u202e/u);
    expect(text.split('\n')).toHaveLength(4);
    expect(text.length).toBeLessThan(400);
    expect(JSON.stringify(blocks)).toContain('AI up 80%');
  });
});
