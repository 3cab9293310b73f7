import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Counts, PageCounts } from '../../../../src/jobs/digest/model.ts';
import { mostMoved } from '../../../../src/jobs/digest/schedule/alert-step.ts';
import type { ScheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import { alertMessage } from '../../../../src/jobs/digest/schedule/view.ts';
import {
  DAY_MS,
  DUE_MS,
  HOUR_MS,
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

describe('an unusual day', () => {
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

describe('an owner who may no longer set up digests', () => {
  const person = (id: string, active = true) => ({ id, name: id, fullMember: true, active });
  const refused = (active = true): JobContextParts => ({
    policy: { check: async (id) => ({ kind: 'refused', person: person(id, active), ask: 'ana' }) },
  });
  const dms = () => [...world.published.values()].filter(({ place }) => 'user' in place);

  test('has no unusual day posted, and is told once that the schedule is paused', async () => {
    unusual['2026-09-20'] = low;
    const run = await given();
    await world.until(DUE_MS - 1, [run]);
    await world.until(DUE_MS + 12 * DAY_MS, [run], refused());
    expect(alerts()).toEqual([]);
    expect(world.digests).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedBy: 'permission' });
    expect(dms().map(({ place, message }) => [place, message.text])).toEqual([
      [{ user: 'U0ANA' }, expect.stringContaining('Paused: you may no longer set up digests')],
    ]);
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

describe('no day is looked at twice', () => {
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
    // When the clocks go back, a day may be left out.
    expect(looks()).toEqual([...new Set(looks())].toSorted());
    expect(looks().length).toBeGreaterThanOrEqual(8);
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
  expect(text.split('\n')).toHaveLength(4);
  expect(text.length).toBeLessThan(400);
  expect(JSON.stringify(blocks)).toContain('AI up 80%');
});
