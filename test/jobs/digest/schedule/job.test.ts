import { describe, expect, test } from 'vitest';
import type { ScheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import { createCallOnceStore } from '../../../../src/store/calls.ts';
import { keys } from '../../../../src/store/keys.ts';
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
} from '../../../support/jobs/digest/schedule-world.ts';
import type { JobContextParts } from '../../../support/jobs/world.ts';

let world: ScheduleWorld;
const redis = onScheduleWorlds((fresh) => {
  world = fresh;
});

const collectedWeeks = () => world.collected.map(({ run: { range } }) => range.from).toSorted();

describe('the test post', () => {
  test('that is shown starts the schedule, and tells the person when the first digest comes', async () => {
    const run = await world.given(aSchedule());
    await world.until(MONDAY_MS, [run]);
    expect(world.posts).toEqual([
      'The weekly digest for docs.acme.com will be posted here, Mondays 09:00 Europe/Berlin; set up by ana.',
    ]);
    expect(world.privately).toEqual([
      expect.stringContaining('Set up · weekly digest of docs.acme.com in <#C0DOCS>\nfirst one <!date^'),
    ]);
    expect(await world.stored(run)).toMatchObject({ state: 'active', nextAtMs: DUE_MS });
  });

  describe('tells the person once', () => {
    const CREATED = 'Set up · weekly digest of docs.acme.com in <#C0DOCS>';
    const DIRECT = 'Scheduled · docs.acme.com in <#C0DOCS>';
    const noUrl = () => redis.client.del(keys.responseUrl(aSchedule().id));
    const began = () => createCallOnceStore(redis.client).begin(aSchedule().id, 'created', 't', MONDAY_MS);
    const died = () => Promise.reject(new Error('died'));
    /** As often as it came where the command was typed, and by direct message. */
    const came = (run: ScheduleRun) => [
      world.privately.filter((text) => text.startsWith(CREATED)).length,
      Number(world.text(run, 'created')?.startsWith(DIRECT) ?? false),
    ];

    test('by direct message, when the process died while it was posted', async () => {
      const run = await world.given(aSchedule());
      await began();
      await world.step(run.id);
      expect(await world.stored(run)).toMatchObject({ state: 'testing' });
      await world.until(MONDAY_MS + 60_000, [run]);
      expect(await world.stored(run)).toMatchObject({ state: 'active' });
      expect(came(run)).toEqual([0, 1]);
      expect(world.published.get(`${run.id}.created`)).toMatchObject({ place: { user: 'U0ANA' } });
    });

    test('when another process was posting it, and its answer came late', async () => {
      const run = await world.given(aSchedule());
      await began();
      await world.step(run.id);
      await createCallOnceStore(redis.client).finish(run.id, 'created', true);
      await world.until(MONDAY_MS + 60_000, [run]);
      expect(await world.stored(run)).toMatchObject({ state: 'active' });
      expect(came(run)).toEqual([0, 0]);
    });

    test.each([
      ['at once', async () => {}],
      ['long after', noUrl],
    ])('when the process dies before it has saved that, and another goes on %s', async (_, later) => {
      const run = await world.given(aSchedule());
      await expect(world.step(run.id, { runs: { ...world.runs, saveWithWakes: died } })).rejects.toThrow(
        'died',
      );
      await later();
      await world.until(MONDAY_MS + 60_000, [run]);
      expect(await world.stored(run)).toMatchObject({ state: 'active' });
      expect(came(run)).toEqual([1, 0]);
    });

    test.each<[string, () => Promise<unknown>, JobContextParts]>([
      ['the command takes no answer any more', noUrl, {}],
      ['Slack does not take it there', async () => {}, { postEphemeral: async () => false }],
    ])('by direct message, when %s', async (_, given, parts) => {
      const run = await world.given(aSchedule());
      await given();
      await expect(
        world.step(run.id, { ...parts, runs: { ...world.runs, saveWithWakes: died } }),
      ).rejects.toThrow();
      await world.until(MONDAY_MS + 60_000, [run], parts);
      expect(came(run)).toEqual([0, 1]);
    });
  });

  test('is waited for', async () => {
    const run = await world.given(aSchedule());
    world.delivery.state = { kind: 'waiting' };
    await world.until(MONDAY_MS + 60_000, [run]);
    expect(await world.stored(run)).toMatchObject({ state: 'testing' });
    expect(world.posts).toHaveLength(1);
  });

  test('that Slack refuses ends the schedule, and frees its place for another', async () => {
    const run = await world.given(aSchedule());
    world.delivery.state = { kind: 'refused', code: 'not_in_channel' };
    await world.until(MONDAY_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ state: 'removed', lasting: false });
    expect(world.privately).toEqual([
      "I can't post in <#C0DOCS> yet, so nothing was set up. Type /invite @Docket there, then /docs-digest create again.",
    ]);
    expect(await world.runs.active()).toEqual([]);
    const again = aSchedule({ id: 'another' });
    expect(await world.runs.accept(again, Number.MAX_SAFE_INTEGER, HOUR_MS, undefined)).toMatchObject({
      kind: 'accepted',
    });
  });

  test('that is refused is told by direct message where the command takes no answer any more', async () => {
    const run = aSchedule();
    await world.runs.accept(run, Number.MAX_SAFE_INTEGER, HOUR_MS, undefined);
    world.delivery.state = { kind: 'refused', code: 'restricted_action' };
    await world.until(MONDAY_MS, [run]);
    expect(world.published.get(`${run.id}.no-place`)).toMatchObject({ place: { user: 'U0ANA' } });
    expect(world.text(run, 'no-place')).toContain('(restricted_action)');
  });
});

describe('collecting', () => {
  test.each<[string, Partial<ScheduleRun>, number]>([
    ['of a site of unknown size begins when the week can be counted', {}, Date.UTC(2026, 8, 21, 1)],
    ['of a small site begins shortly before', { lastPages: 400 }, DUE_MS - (10 + 52 * 0.75) * 60_000],
    ['of 25,000 pages begins hours before', { lastPages: 25_000 }, DUE_MS - (10 + 150 * 0.75) * 60_000],
    [
      'of a huge site begins no earlier than the week can be counted',
      { lastPages: 1e6 },
      Date.UTC(2026, 8, 21, 1),
    ],
  ])('%s', async (_, changes, beginsMs) => {
    world.nowMs = MONDAY_MS - 2 * DAY_MS;
    const run = await world.active(changes);
    await world.until(DUE_MS + HOUR_MS, [run]);
    expect(world.collected.map(({ atMs }) => atMs)).toEqual([beginsMs, beginsMs]);
    expect(collectedWeeks()).toEqual(['2026-09-07', '2026-09-14']);
    expect(world.weeks()).toEqual(['2026-W38']);
  });

  test('of the second week asks for that week alone', async () => {
    const run = await world.active();
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(collectedWeeks()).toEqual(['2026-09-07', '2026-09-14', '2026-09-21']);
    expect(await world.stored(run)).toMatchObject({ lastPages: 400, lastWeek: '2026-W39' });
  });
});

describe('when nobody was at work', () => {
  test.each([
    ['half an hour', 0.5, undefined],
    ['two hours', 2, true],
    ['47 hours', 47, true],
  ])('for %s, the digest is caught up', async (_, hours, late) => {
    const run = await world.active();
    world.nowMs = DUE_MS + hours * HOUR_MS;
    await world.until(world.nowMs, [run]);
    expect(world.digests).toMatchObject([{ week: '2026-W38', dueAtMs: DUE_MS }]);
    expect(world.digests[0]?.late).toBe(late);
    expect(await world.stored(run)).toMatchObject({ nextAtMs: DUE_MS + WEEK_MS, lastWeek: '2026-W38' });
    expect(world.posts).toEqual([]);
  });

  test('for more than 48 hours, it is skipped, and the owner has one note of it', async () => {
    const run = await world.active();
    world.nowMs = DUE_MS + 49 * HOUR_MS;
    await world.until(world.nowMs + HOUR_MS, [run]);
    expect(world.weeks()).toEqual([]);
    expect(world.posts).toHaveLength(1);
    expect(world.published.get(`${run.id}.skipped.2026-W38`)).toMatchObject({ place: { user: 'U0ANA' } });
    expect(world.posts[0]).toContain('14–20 Sep 2026');
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W39']);
    expect(world.posts).toHaveLength(1);
  });

  test('for weeks, the last digest is caught up, and one note names those before it', async () => {
    const run = await world.active();
    world.nowMs = DUE_MS + 3 * WEEK_MS + 5 * HOUR_MS;
    await world.until(world.nowMs, [run]);
    expect(world.digests).toMatchObject([{ week: '2026-W41', late: true }]);
    expect(world.posts).toHaveLength(1);
    for (const week of ['14–20 Sep', '21–27 Sep', '28 Sep – 4 Oct']) expect(world.posts[0]).toContain(week);
    expect(await world.stored(run)).toMatchObject({ skipped: { week: '2026-W40' } });
  });

  test('a clock that was ahead by a year leaves nothing behind but its notes', async () => {
    const run = await world.active();
    const planned = await world.stored(run);
    await world.runs.save({ ...planned, nextAtMs: DUE_MS + 52 * WEEK_MS });
    await world.until(DUE_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W38']);
  });

  test('a clock that was ahead by a year, and had a digest posted, leaves no week out', async () => {
    const run = await world.active({ lastWeek: '2026-W37' });
    world.nowMs = DUE_MS + 52 * WEEK_MS;
    await world.until(world.nowMs, [run]);
    world.nowMs = MONDAY_MS;
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(world.weeks()).toEqual(['2027-W37', '2026-W38', '2026-W39']);
    expect(await world.stored(run)).toMatchObject({
      lastWeek: '2026-W39',
      nextAtMs: DUE_MS + 2 * WEEK_MS,
    });
  });
});

describe('done once', () => {
  test('by two processes that step at the same time', async () => {
    const run = await world.active();
    for (let week = 0; week < 3; week += 1) {
      world.nowMs = DUE_MS + week * WEEK_MS;
      for (let times = 0; times < 4; times += 1) {
        await Promise.all([world.step(run.id), world.step(run.id), world.step(run.id)]);
        await world.others();
      }
    }
    expect(world.weeks()).toEqual(['2026-W38', '2026-W39', '2026-W40']);
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
        saveWithWakes: (...all) => strike(() => runs.saveWithWakes(...all)),
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
