import { beforeEach, describe, expect, test } from 'vitest';
import { editionRun, weeklyId } from '../../../../src/jobs/digest/edition/record.ts';
import { scheduleJob } from '../../../../src/jobs/digest/schedule/job.ts';
import type { ScheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import {
  changeSchedule,
  followEdition,
  scheduleTransitions as transitions,
} from '../../../../src/jobs/digest/schedule/transitions.ts';
import {
  aSchedule,
  createScheduleWorld,
  DAY_MS,
  HOUR_MS,
  MONDAY_MS,
} from '../../../support/jobs/digest/schedule-world.ts';
import type { JobContextParts } from '../../../support/jobs/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const redis = redisForTests();
let world: ReturnType<typeof createScheduleWorld>;
beforeEach(() => {
  world = createScheduleWorld(redis);
});

/** 09:00 in Berlin. */
const DUE_MS = MONDAY_MS + HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const ben = { id: 'U0BEN', name: 'ben' };

const weeks = () => world.digests.map(({ week }) => week);
const collectedWeeks = () => world.collected.map(({ run: { range } }) => range.from).toSorted();
const active = (changes: Partial<ScheduleRun> = {}) =>
  world.given(aSchedule({ state: 'active', ...changes }));

/** Somebody of whom Slack says this. */
const person = (who: { active: boolean }): JobContextParts => ({
  policy: {
    check: async (id) => ({
      kind: 'refused',
      person: { id, name: id, fullMember: true, ...who },
      ask: [],
    }),
  },
});

describe('the test post', () => {
  test('that is shown starts the schedule, and tells the person when the first digest comes', async () => {
    const run = await world.given(aSchedule());
    await world.until(MONDAY_MS, [run]);
    expect(world.posts).toEqual([
      '📊 Weekly digest of docs.acme.com comes here, Mondays 09:00 Europe/Berlin.',
    ]);
    expect(world.privately).toEqual([
      expect.stringContaining('Weekly, Mondays 09:00 Europe/Berlin. First one:'),
    ]);
    expect(await world.stored(run)).toMatchObject({ state: 'active', nextAtMs: DUE_MS });
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
    expect(await world.runs.accept(again, Number.MAX_SAFE_INTEGER, HOUR_MS, undefined)).toEqual({
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
    ['of a small site begins shortly before', { lastPages: 400 }, DUE_MS - (10 + 42 * 0.75) * 60_000],
    ['of 25,000 pages begins hours before', { lastPages: 25_000 }, DUE_MS - (10 + 140 * 0.75) * 60_000],
    [
      'of a huge site begins no earlier than the week can be counted',
      { lastPages: 1e6 },
      Date.UTC(2026, 8, 21, 1),
    ],
  ])('%s', async (_, changes, beginsMs) => {
    world.nowMs = MONDAY_MS - 2 * DAY_MS;
    const run = await active(changes);
    await world.until(DUE_MS + HOUR_MS, [run]);
    expect(world.collected.map(({ atMs }) => atMs)).toEqual([beginsMs, beginsMs]);
    expect(collectedWeeks()).toEqual(['2026-09-07', '2026-09-14']);
    expect(weeks()).toEqual(['2026-W38']);
  });

  test('of the second week asks for that week alone', async () => {
    const run = await active();
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
    const run = await active();
    world.nowMs = DUE_MS + hours * HOUR_MS;
    await world.until(world.nowMs, [run]);
    expect(world.digests).toMatchObject([{ week: '2026-W38', dueAtMs: DUE_MS }]);
    expect(world.digests[0]?.late).toBe(late);
    expect(await world.stored(run)).toMatchObject({ nextAtMs: DUE_MS + WEEK_MS, lastWeek: '2026-W38' });
    expect(world.posts).toEqual([]);
  });

  test('for more than 48 hours, it is skipped, and the owner has one note of it', async () => {
    const run = await active();
    world.nowMs = DUE_MS + 49 * HOUR_MS;
    await world.until(world.nowMs + HOUR_MS, [run]);
    expect(weeks()).toEqual([]);
    expect(world.posts).toHaveLength(1);
    expect(world.published.get(`${run.id}.skipped.2026-W38`)).toMatchObject({ place: { user: 'U0ANA' } });
    expect(world.posts[0]).toContain('14–20 Sep 2026');
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(weeks()).toEqual(['2026-W39']);
    expect(world.posts).toHaveLength(1);
  });

  test('for weeks, the last digest is caught up, and one note names those before it', async () => {
    const run = await active();
    world.nowMs = DUE_MS + 3 * WEEK_MS + 5 * HOUR_MS;
    await world.until(world.nowMs, [run]);
    expect(world.digests).toMatchObject([{ week: '2026-W41', late: true }]);
    expect(world.posts).toHaveLength(1);
    for (const week of ['14–20 Sep', '21–27 Sep', '28 Sep – 4 Oct']) expect(world.posts[0]).toContain(week);
    expect(await world.stored(run)).toMatchObject({ skipped: { week: '2026-W40' } });
  });

  test('a clock that was ahead by a year leaves nothing behind but its notes', async () => {
    const run = await active();
    const planned = await world.stored(run);
    await world.runs.save({ ...planned, nextAtMs: DUE_MS + 52 * WEEK_MS });
    await world.until(DUE_MS, [run]);
    expect(weeks()).toEqual(['2026-W38']);
  });
});

describe('a person', () => {
  test('pauses a schedule: nothing is posted, and nothing is caught up later', async () => {
    const run = await active();
    await world.change(run, (it) => transitions.pause(it, ben, world.nowMs));
    await world.until(DUE_MS + HOUR_MS, [run]);
    await world.change(run, (it) => transitions.resume(it, ben, world.nowMs));
    await world.until(DUE_MS + WEEK_MS - 1, [run]);
    expect(weeks()).toEqual([]);
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(weeks()).toEqual(['2026-W39']);
    expect(world.digests[0]?.late).toBeUndefined();
  });

  test('removes a schedule while a digest is posted: that is finished, no other comes, and its place is free', async () => {
    const run = await active();
    world.ending = () => undefined;
    await world.until(DUE_MS, [run]);
    await world.change(run, (it) => transitions.remove(it, ben, world.nowMs));
    world.ending = () => ({ why: 'done' });
    await world.until(DUE_MS + 2 * WEEK_MS, [run]);
    expect(weeks()).toEqual(['2026-W38']);
    expect(await world.runs.active()).toEqual([]);
    expect(await redis.client.keys('*claim*')).toEqual([]);
    expect(await redis.client.pttl(`{docket}:run:${run.id}`)).toBeGreaterThan(0);
  });

  test('creates a removed schedule once more: the week that was posted is not posted again', async () => {
    const run = await active();
    await world.until(DUE_MS, [run]);
    await world.change(run, (it) => transitions.remove(it, ben, world.nowMs));
    await world.until(DUE_MS + HOUR_MS, [run]);
    const friday = { weekday: 5, time: '09:00', zone: 'Europe/Berlin' };
    const again = await world.given(
      aSchedule({ id: 'again', timetable: friday, nextAtMs: DUE_MS + 4 * DAY_MS }),
    );
    await world.until(DUE_MS + 5 * DAY_MS, [run, again]);
    expect(weeks()).toEqual(['2026-W38']);
    expect(await world.stored(again)).toMatchObject({ lastWeek: '2026-W38', failures: 0 });
    await world.until(DUE_MS + 12 * DAY_MS, [again]);
    expect(weeks()).toEqual(['2026-W38', '2026-W39']);
  });

  test('moves a schedule from Monday to Friday: the next digest is that of the next week', async () => {
    const run = await active();
    await world.until(DUE_MS + HOUR_MS, [run]);
    const timetable = { weekday: 5, time: '09:00', zone: 'Europe/Berlin' };
    await world.change(run, (it) => changeSchedule(it, { timetable }, world.nowMs));
    expect(await world.stored(run)).toMatchObject({ nextAtMs: DUE_MS + 11 * DAY_MS });
    await world.until(DUE_MS + 11 * DAY_MS, [run]);
    expect(weeks()).toEqual(['2026-W38', '2026-W39']);
  });

  test('has the week posted by hand: it is not posted again when it is due', async () => {
    world.nowMs = Date.UTC(2026, 8, 21, 2);
    const run = await active();
    const week = '2026-W38';
    const id = weeklyId(run.teamId, run.channel, run.project, week);
    world.ending = () => undefined;
    await world.until(DUE_MS, [run]);
    await world.change(run, (it) => followEdition(it, { run: id, week }, world.nowMs));
    world.ending = () => ({ why: 'done' });
    await world.until(DUE_MS + DAY_MS, [run]);
    expect(weeks()).toEqual([week]);
    expect(await world.stored(run)).toMatchObject({ lastWeek: week, nextAtMs: DUE_MS + WEEK_MS });
  });
});

describe('a digest that cannot be posted', () => {
  beforeEach(() => {
    world.ending = () => ({ why: 'place', code: 'not_in_channel' });
  });

  test('is told to the owner with what mends it, three times, and then the schedule pauses', async () => {
    const run = await active();
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ state: 'active', failures: 2 });
    expect(world.text(run, 'failed.2026-W38.1')).toBe(
      "❌ I couldn't post the digest of docs.acme.com in <#C0DOCS>: I'm not in that channel.\nType /invite @Docket there, then [Send now].",
    );
    await world.until(DUE_MS + 5 * WEEK_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedByFailures: true, failures: 3 });
    expect(weeks()).toEqual(['2026-W38', '2026-W39', '2026-W40']);
    expect(world.posts).toHaveLength(3);
    expect(world.posts.at(-1)).toContain('Paused after 3 failures');
    expect([...world.published.values()].map(({ place }) => place)).toEqual(
      Array.from({ length: 3 }, () => ({ user: 'U0ANA' })),
    );
  });

  test('one that can be posted again, by hand, has the schedule go on', async () => {
    const run = await active();
    await world.until(DUE_MS + 3 * WEEK_MS, [run]);
    const id = weeklyId(run.teamId, run.channel, run.project, '2026-W40');
    await world.change(run, (it) => followEdition(it, { run: id, week: '2026-W40' }, world.nowMs));
    const edition = await world.runs.load(id, editionRun);
    if (edition) await world.runs.save({ ...edition, ended: { why: 'done' } });
    world.ending = () => ({ why: 'done' });
    await world.until(DUE_MS + 4 * WEEK_MS, [run]);
    const now = await world.stored(run);
    expect(now).toMatchObject({ state: 'active', failures: 0, lastWeek: '2026-W42' });
    expect(now.pausedByFailures).toBeUndefined();
  });

  test('one that failed already for somebody who sent it by hand is tried again when it is due', async () => {
    const run = await active();
    await world.until(DUE_MS, [run]);
    const friday = { weekday: 5, time: '09:00', zone: 'Europe/Berlin' };
    await world.change(run, (it) => changeSchedule(it, { timetable: friday }, world.nowMs));
    world.ending = () => ({ why: 'done' });
    await world.until(DUE_MS + 4 * DAY_MS, [run]);
    expect(weeks()).toEqual(['2026-W38']);
    expect(await world.stored(run)).toMatchObject({ lastWeek: '2026-W38', failures: 0 });
    expect(world.posts).toHaveLength(1);
  });

  test('has figures collected again that could not be had before', async () => {
    const run = await active({ lastPages: 25_000 });
    world.failing = 'platform';
    await world.until(DUE_MS - 1, [run]);
    expect(world.collected).toHaveLength(2);
    world.failing = undefined;
    await world.until(DUE_MS, [run]);
    expect(world.collected.map(({ run: { failed } }) => failed)).toEqual(Array(4).fill(undefined));
  });

  test('between others that can, pauses nothing', async () => {
    const run = await active();
    let count = 0;
    world.ending = () => (count++ % 3 === 2 ? { why: 'done' } : { why: 'platform' });
    await world.until(DUE_MS + 8 * WEEK_MS + HOUR_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ state: 'active', failures: 0 });
    expect(world.posts).toHaveLength(6);
  });

  test.each([
    [{ why: 'place', code: 'is_archived' }, 'it is archived'],
    [{ why: 'place', code: 'restricted_action' }, "Slack doesn't let me post there (restricted_action)"],
    [{ why: 'project' }, 'My settings no longer have the project acme'],
    [{ why: 'platform' }, 'the platform gave no numbers'],
    [{ why: 'broken', ref: '7f3c1d' }, 'something broke on my side. ref 7f3c1d'],
  ] as const)('says why: %j', async (ended, text) => {
    const run = await active();
    world.ending = () => ended;
    await world.until(DUE_MS, [run]);
    expect(world.text(run, 'failed.2026-W38.1')).toContain(text);
  });

  test('whose record is gone counts as posted', async () => {
    const run = await active();
    world.ending = () => undefined;
    await world.until(DUE_MS, [run]);
    const { posting } = await world.stored(run);
    await redis.client.del(`{docket}:run:${posting?.run}`);
    await world.until(DUE_MS + HOUR_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ lastWeek: '2026-W38', failures: 0 });
  });
});

describe('the owner', () => {
  test('who has left: the channel is told once, the digest goes on, and somebody takes it over', async () => {
    const run = await active();
    await world.until(DUE_MS + 3 * WEEK_MS, [run], person({ active: false }));
    expect(weeks()).toHaveLength(4);
    expect(world.posts).toEqual([
      expect.stringContaining('@ana, who set up the weekly digest of docs.acme.com, has left.'),
    ]);
    expect(world.published.get(`${run.id}.left.U0ANA`)).toMatchObject({ place: { channel: 'C0DOCS' } });
    await world.change(run, (it) => transitions.takeOver(it, ben, world.nowMs));
    await world.until(DUE_MS + 4 * WEEK_MS, [run]);
    expect(world.digests.at(-1)?.owner).toEqual(ben);
    expect(world.text(run, 'left.U0ANA')).toContain('@ben took it over');
    const now = await world.stored(run);
    expect([now.ownerLeft, now.takenFrom]).toEqual([undefined, undefined]);
  });

  test('who has left hears of no failure: the channel does', async () => {
    const run = await active();
    world.ending = () => ({ why: 'platform' });
    await world.until(DUE_MS, [run], person({ active: false }));
    expect(world.published.get(`${run.id}.failed.2026-W38.1`)).toMatchObject({
      place: { channel: 'C0DOCS' },
    });
  });

  test('who may have no digests any more: it pauses, and only the owner hears of it', async () => {
    const run = await active();
    await world.until(DUE_MS + 2 * WEEK_MS, [run], person({ active: true }));
    expect(weeks()).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedByPermission: true });
    expect([...world.published.values()].map(({ place }) => place)).toEqual([{ user: 'U0ANA' }]);
    await world.change(run, (it) => transitions.resume(it, ben, world.nowMs));
    await world.until(DUE_MS + 3 * WEEK_MS, [run]);
    expect(weeks()).toEqual(['2026-W41']);
    expect((await world.stored(run)).pausedByPermission).toBeUndefined();
  });

  test('of whom Slack says nothing is asked about again soon, and the digest is late', async () => {
    const run = await active();
    await world.until(DUE_MS + 2 * HOUR_MS, [run], { policy: { check: async () => ({ kind: 'unknown' }) } });
    expect(weeks()).toEqual([]);
    await world.until(DUE_MS + 2 * HOUR_MS + 60_000, [run]);
    expect(world.digests).toMatchObject([{ week: '2026-W38', late: true }]);
  });
});

describe('done once', () => {
  test('by two processes that step at the same time', async () => {
    const run = await active();
    for (let week = 0; week < 3; week += 1) {
      world.nowMs = DUE_MS + week * WEEK_MS;
      for (let times = 0; times < 4; times += 1) {
        await Promise.all([world.step(run.id), world.step(run.id), world.step(run.id)]);
        await world.others();
      }
    }
    expect(weeks()).toEqual(['2026-W38', '2026-W39', '2026-W40']);
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
        save: (...all) => strike(() => runs.save(...all)),
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
        results.add(JSON.stringify([weeks(), messages, world.privately, { ...stored, sinceMs: 0 }]));
      }
    expect([...results]).toHaveLength(1);
  });
});

test('a schedule that breaks goes on with the next week, and its owner hears of it', async () => {
  const run = await active();
  await world.until(DUE_MS - 1, [run]);
  world.nowMs = DUE_MS;
  await scheduleJob.giveUp?.({ runId: run.id }, world.context(), '7f3c1d');
  expect(await world.stored(run)).toMatchObject({ state: 'active', failures: 1, nextAtMs: DUE_MS + WEEK_MS });
  expect(world.text(run, 'broken.7f3c1d')).toContain('ref 7f3c1d');
  await world.until(DUE_MS + WEEK_MS, [run]);
  expect(weeks()).toEqual(['2026-W39']);
});
