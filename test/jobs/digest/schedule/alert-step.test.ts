import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Counts, PageCounts } from '../../../../src/jobs/digest/model.ts';
import { mostMoved } from '../../../../src/jobs/digest/schedule/alert-step.ts';
import { alertMessage } from '../../../../src/jobs/digest/schedule/alert-view.ts';
import { alertKey, type ScheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import { changeSchedule, scheduleTransitions } from '../../../../src/jobs/digest/schedule/transitions.ts';
import {
  DAY_MS,
  DUE_MS,
  HOUR_MS,
  MONDAY_MS,
  onScheduleWorlds,
  type ScheduleWorld,
} from '../../../support/jobs/digest/schedule-world.ts';
import type { JobContextParts } from '../../../support/jobs/world.ts';

let world: ScheduleWorld;
let unusual: Record<string, Counts>;
onScheduleWorlds((fresh) => {
  world = fresh;
  unusual = {};
  world.views = (day) => unusual[day] ?? { human: 820, ai: 500 };
});

const low = { human: 310, ai: 500 };
const none = { human: 0, ai: 0 };

/** A schedule whose digest comes on Saturdays, so that it is not in the way. */
const given = (changes: Partial<ScheduleRun> = {}) =>
  world.active({
    alerts: true,
    timetable: { weekday: 6, time: '09:00', zone: 'Europe/Berlin' },
    nextAtMs: DUE_MS + 5 * DAY_MS,
    ...changes,
  });

/** Each alert by the day that it is about. */
const alerts = () => [...world.published.keys()].flatMap((key) => /\.alert\.(.+)$/.exec(key)?.[1] ?? []);

const textOf = (run: ScheduleRun, day: string) => world.published.get(alertKey(run, day))?.message.text;

/** Lists of pages that are never finished. */
const withoutEnd: typeof world.runs.loadAll = async (ids, schema) => {
  const found = await world.runs.loadAll(ids, schema);
  return found.map((run) => ('pages' in run && run.pages ? { ...run, state: 'collecting' } : run));
};

const pagesOf = (views: Record<string, number>): PageCounts[] =>
  Object.entries(views).map(([path, human]) => ({ path, human, ai: 5 }));

describe('an unusual day', () => {
  test("posts one line at the digest's hour of the next day, with the pages that moved", async () => {
    unusual['2026-09-20'] = low;
    world.pages = (day) =>
      pagesOf(
        day === '2026-09-20' ? { '/quickstart': 96, '/a': 10 } : { '/quickstart': 401, '/a': 12, '/b': 80 },
      );
    const run = await given();
    await world.until(DUE_MS - 1, [run]);
    expect(alerts()).toEqual([]);
    await world.until(DUE_MS + 60_000, [run]);
    expect(textOf(run, '2026-09-20')).toBe(
      'People down 62 percent on docs.acme.com, Sun 20 Sep: 310 views, usually about 820.\n' +
        'Most of it: /quickstart from 401 to 96 · /b from 80 to 0\n' +
        'Compared with the last eight Sundays.',
    );
    const message = world.published.get(alertKey(run, '2026-09-20'));
    expect(message?.place).toEqual({ channel: 'C0DOCS' });
    expect(JSON.stringify(message?.message.blocks)).toContain('People down 62%');
    expect(world.posts).toHaveLength(1);
  });

  test('has no pages named where there are too many of them', async () => {
    unusual['2026-09-20'] = low;
    world.pages = (day) => (day === '2026-09-13' ? undefined : pagesOf({ '/quickstart': 96 }));
    const run = await given();
    await world.until(DUE_MS + 60_000, [run]);
    expect(textOf(run, '2026-09-20')).not.toContain('Most of it');
    const lists = world.collected.filter((one) => one.run.pages !== undefined);
    expect(lists.flatMap(({ run: { maxRequests } }) => maxRequests ?? [])).toEqual([5, 5]);
  });

  test('is told without its pages when these do not come within the hour', async () => {
    unusual['2026-09-20'] = low;
    const run = await given();
    await world.until(DUE_MS, [run], { runs: { ...world.runs, loadAll: withoutEnd } });
    expect(alerts()).toEqual([]);
    await world.until(DUE_MS + HOUR_MS + 60_000, [run], { runs: { ...world.runs, loadAll: withoutEnd } });
    expect(alerts()).toEqual(['2026-09-20']);
    expect(world.posts[0]).not.toContain('Most of it');
  });

  test('is told once by two processes that look at the same time', async () => {
    unusual['2026-09-20'] = low;
    const run = await given();
    await world.until(DUE_MS - 1, [run]);
    world.nowMs = DUE_MS;
    for (let times = 0; times < 6; times += 1) {
      await Promise.all([world.step(run.id), world.step(run.id)]);
      await world.others();
    }
    expect(world.posts).toHaveLength(1);
  });
});

describe('after an alert', () => {
  test('a week is quiet, and then it is told again', async () => {
    for (let day = 20; day <= 29; day += 1) unusual[`2026-09-${day}`] = low;
    const run = await given();
    await world.until(DUE_MS + 10 * DAY_MS, [run]);
    expect(alerts()).toEqual(['2026-09-20', '2026-09-27']);
  });

  test('no views at all break the quiet, once', async () => {
    unusual['2026-09-20'] = low;
    for (const day of ['22', '23', '24']) unusual[`2026-09-${day}`] = none;
    const run = await given();
    await world.until(DUE_MS + 6 * DAY_MS, [run]);
    expect(alerts()).toEqual(['2026-09-20', '2026-09-22']);
    expect(textOf(run, '2026-09-22')).toContain('None at all usually means that counting broke.');
  });
});

test('AI that is unusual does not hide people that are, and a lasting fall is told once', async () => {
  unusual['2026-09-20'] = { human: 820, ai: 900 };
  unusual['2026-09-22'] = low;
  for (let day = 23; day <= 30; day += 1) unusual[`2026-09-${day}`] = { human: 533, ai: 500 };
  const run = await given();
  await world.until(DUE_MS + 10 * DAY_MS, [run]);
  expect(alerts()).toEqual(['2026-09-20', '2026-09-22', '2026-09-29']);
  expect(textOf(run, '2026-09-22')).toContain('People down 62 percent');
  expect(textOf(run, '2026-09-29')).toContain('for days on docs.acme.com');
});

describe('after an alert, also of a schedule before', () => {
  const ana = { id: 'U0ANA', name: 'ana' };

  test('a schedule that is removed and set up anew with a later hour tells neither the day nor the week again', async () => {
    for (let day = 20; day <= 27; day += 1) unusual[`2026-09-${day}`] = low;
    const first = await given();
    await world.until(DUE_MS + HOUR_MS, [first]);
    await world.change(first, (it) => scheduleTransitions.remove(it, ana, world.nowMs));
    // Its step frees the place.
    await world.until(world.nowMs, [first]);
    const timetable = { weekday: 6, time: '15:00', zone: 'Europe/Berlin' };
    const second = await given({ id: 'anew', timetable });
    await world.until(DUE_MS + 8 * DAY_MS, [first, second]);
    expect(alerts()).toEqual(['2026-09-20', '2026-09-27']);
  });

  test('alerts that are chosen anew keep the quiet', async () => {
    for (const day of [20, 22, 23]) unusual[`2026-09-${day}`] = low;
    const run = await given();
    await world.until(DUE_MS + HOUR_MS, [run]);
    await world.change(run, (it) => changeSchedule(it, { alerts: false }, world.nowMs));
    await world.change(run, (it) => changeSchedule(it, { alerts: true }, world.nowMs));
    await world.until(DUE_MS + 5 * DAY_MS, [run]);
    expect(alerts()).toEqual(['2026-09-20']);
  });

  test('people without views are told after AI without any, which alone is no sign of broken counting', async () => {
    unusual['2026-09-20'] = { human: 820, ai: 0 };
    unusual['2026-09-21'] = { human: 820, ai: 0 };
    unusual['2026-09-22'] = none;
    const run = await given();
    await world.until(DUE_MS + 4 * DAY_MS, [run]);
    expect(alerts()).toEqual(['2026-09-20', '2026-09-22']);
    expect(textOf(run, '2026-09-20')).not.toContain('counting broke');
    expect(textOf(run, '2026-09-22')).toContain('counting broke');
  });
});

describe('an owner who may no longer set up digests', () => {
  const person = (id: string, active = true) => ({ id, name: id, fullMember: true, active });
  const refused = (active = true): JobContextParts => ({
    policy: { check: async (id) => ({ kind: 'refused', person: person(id, active), ask: [] }) },
  });
  const dms = () => [...world.published.values()].filter(({ place }) => 'user' in place);

  test('has no unusual day posted, and is told once that the schedule is paused', async () => {
    unusual['2026-09-20'] = low;
    const run = await given();
    await world.until(DUE_MS - 1, [run]);
    await world.until(DUE_MS + 12 * DAY_MS, [run], refused());
    expect(alerts()).toEqual([]);
    expect(world.digests).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedByPermission: true });
    expect(dms().map(({ place, message }) => [place, message.text])).toEqual([
      [{ user: 'U0ANA' }, expect.stringContaining('Paused: you may no longer set up digests')],
    ]);
  });

  test('has no day posted that was found to be unusual before', async () => {
    unusual['2026-09-20'] = low;
    const run = await given();
    await world.until(DUE_MS, [run], { runs: { ...world.runs, loadAll: withoutEnd } });
    expect((await world.stored(run)).alert?.check?.found).toBeDefined();
    await world.until(DUE_MS + HOUR_MS, [run], refused());
    expect(alerts()).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedByPermission: true });
    expect(dms()).toHaveLength(1);
  });

  test('is waited for while Slack does not say, and the line then comes', async () => {
    unusual['2026-09-20'] = low;
    const run = await given();
    await world.until(DUE_MS + HOUR_MS, [run], { policy: { check: async () => ({ kind: 'unknown' }) } });
    expect(world.posts).toEqual([]);
    await world.until(DUE_MS + HOUR_MS + 60_000, [run]);
    expect(alerts()).toEqual(['2026-09-20']);
  });

  test('and has left has them go on, as the digest does', async () => {
    unusual['2026-09-20'] = low;
    const run = await given();
    await world.until(DUE_MS + 60_000, [run], refused(false));
    expect(alerts()).toEqual(['2026-09-20']);
  });
});

describe('each day is looked at once', () => {
  const looks = () =>
    world.collected.filter((one) => one.run.spans.length === 57).map((one) => one.run.spans[0]?.from);

  test.each([
    ['Europe/Berlin', '2026-10-25', '02:30'],
    ['Europe/Berlin', '2027-03-28', '02:30'],
    ['America/New_York', '2026-11-01', '20:30'],
    ['America/New_York', '2027-03-14', '20:30'],
    ['Pacific/Auckland', '2027-04-04', '13:30'],
    ['Pacific/Auckland', '2027-09-26', '13:30'],
  ])('when the clocks change: %s, %s, %s', async (zone, day, time) => {
    const changeMs = Date.parse(`${day}T00:00:00Z`);
    world.nowMs = changeMs - 5 * DAY_MS;
    const nextAtMs = changeMs + 30 * DAY_MS;
    const run = await given({ timetable: { weekday: 2, time, zone }, sinceMs: world.nowMs, nextAtMs });
    await world.until(changeMs + 5 * DAY_MS, [run]);
    const [first = ''] = looks();
    const days = looks().map((_, index) => new Date(Date.parse(first) + index * DAY_MS).toISOString());
    expect(looks()).toEqual(days.map((one) => one.slice(0, 10)));
    expect(days.length).toBeGreaterThanOrEqual(8);
  });
});

describe('nothing is told', () => {
  test('of usual days, each of which is looked at once, with all days of eight weeks before', async () => {
    const run = await given();
    await world.until(DUE_MS + 3 * DAY_MS, [run]);
    expect(world.posts).toEqual([]);
    const looks = world.collected.filter((one) => one.run.spans.length === 57);
    expect(looks.map((one) => one.run.spans[0]?.from)).toEqual([
      '2026-09-20',
      '2026-09-21',
      '2026-09-22',
      '2026-09-23',
    ]);
    expect(looks[0]?.run.spans.map(({ from }) => from)).toEqual(
      Array.from({ length: 57 }, (_, ago) =>
        new Date(Date.UTC(2026, 8, 20) - ago * DAY_MS).toISOString().slice(0, 10),
      ),
    );
    expect(new Set(looks.map(({ atMs }) => (atMs - DUE_MS) % DAY_MS))).toEqual(new Set([0]));
  });

  test('of days that were missed for more than 24 hours', async () => {
    for (const day of ['20', '21', '22']) unusual[`2026-09-${day}`] = low;
    const run = await given();
    await world.until(MONDAY_MS, [run]);
    world.nowMs = DUE_MS + 2.5 * DAY_MS;
    await world.until(world.nowMs + HOUR_MS, [run]);
    expect(alerts()).toEqual(['2026-09-22']);
  });

  test('where nobody chose it, nor while the schedule is paused', async () => {
    unusual['2026-09-20'] = low;
    const run = await given({ alerts: false });
    await world.until(DUE_MS + HOUR_MS, [run]);
    await world.change(run, (it) => changeSchedule(it, { alerts: true }, world.nowMs));
    await world.until(DUE_MS + 2 * HOUR_MS, [run]);
    const ana = { id: 'U0ANA', name: 'ana' };
    unusual['2026-09-21'] = low;
    await world.change(run, (it) => scheduleTransitions.pause(it, ana, world.nowMs));
    await world.until(DUE_MS + 2 * DAY_MS, [run]);
    await world.change(run, (it) => scheduleTransitions.resume(it, ana, world.nowMs));
    await world.until(DUE_MS + 3 * DAY_MS - 1, [run]);
    expect(world.posts).toEqual([]);
    unusual['2026-09-23'] = low;
    await world.until(DUE_MS + 3 * DAY_MS + 60_000, [run]);
    expect(alerts()).toEqual(['2026-09-23']);
  });

  test('of a day whose figures do not come', async () => {
    unusual['2026-09-20'] = low;
    const run = await given();
    await world.until(DUE_MS - 1, [run]);
    const loadAll = async () => [];
    await world.until(DUE_MS + HOUR_MS, [run], { runs: { ...world.runs, loadAll } });
    expect((await world.stored(run)).alert?.check).toBeUndefined();
    expect(world.posts).toEqual([]);
  });
});

test('the pages that moved are those that moved as the day did, the most moved first', () => {
  const views = fc.array(fc.record({ path: fc.webPath(), human: fc.nat(1000), ai: fc.nat(1000) }));
  fc.assert(
    fc.property(
      views,
      views,
      fc.nat(5000),
      fc.integer({ min: 200, max: 5000 }),
      (pages, earlier, now, usual) => {
        const moved = mostMoved(pages, earlier, { by: 'human', now, usual });
        const last = (list: PageCounts[], path: string) =>
          list.filter((page) => page.path === path).at(-1)?.human ?? 0;
        const by = moved.map((page) => Math.sign(now - usual) * (page.now - page.before));
        expect(by).toEqual(by.toSorted((one, other) => other - one));
        for (const [index, page] of moved.entries()) {
          expect(page).toMatchObject({ now: last(pages, page.path), before: last(earlier, page.path) });
          expect(by[index]).toBeGreaterThanOrEqual(0.1 * Math.abs(now - usual));
        }
        expect(moved.length).toBeLessThanOrEqual(3);
      },
    ),
  );
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
  expect(text.split('\n')).toHaveLength(3);
  expect(text.length).toBeLessThan(400);
  expect(JSON.stringify(blocks)).toContain('AI up 80%');
});
