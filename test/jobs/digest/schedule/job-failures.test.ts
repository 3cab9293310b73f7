import { beforeEach, describe, expect, test } from 'vitest';
import { editionRun, weeklyId } from '../../../../src/jobs/digest/edition/record.ts';
import { scheduleJob } from '../../../../src/jobs/digest/schedule/job.ts';
import {
  changeSchedule,
  followEdition,
  scheduleTransitions,
} from '../../../../src/jobs/digest/schedule/transitions.ts';
import {
  DAY_MS,
  DUE_MS,
  HOUR_MS,
  onScheduleWorlds,
  type ScheduleWorld,
  WEEK_MS,
} from '../../../support/jobs/digest/schedule-world.ts';

let world: ScheduleWorld;
const redis = onScheduleWorlds((fresh) => {
  world = fresh;
});

describe('a digest that cannot be posted', () => {
  beforeEach(() => {
    world.ending = () => ({ why: 'place', code: 'not_in_channel' });
  });

  test('is told to the owner with what mends it, three times, and then the schedule pauses', async () => {
    const run = await world.active();
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ state: 'active', failures: 2 });
    expect(world.text(run, `failed.2026-W38.${DUE_MS}`)).toBe(
      "The digest of docs.acme.com couldn't be posted in <#C0DOCS>: I'm not in that channel.\nType /invite @Docket there, then [Send now].",
    );
    await world.until(DUE_MS + 5 * WEEK_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedByFailures: true, failures: 3 });
    expect(world.weeks()).toEqual(['2026-W38', '2026-W39', '2026-W40']);
    expect(world.posts).toHaveLength(3);
    expect(world.posts.at(-1)).toContain('Paused after 3 failures');
    expect([...world.published.values()].map(({ place }) => place)).toEqual(
      Array.from({ length: 3 }, () => ({ user: 'U0ANA' })),
    );
  });

  test('is told again when it fails once more for somebody who resumed the schedule and sent it', async () => {
    const run = await world.active();
    await world.until(DUE_MS, [run]);
    const ana = { id: 'U0ANA', name: 'ana' };
    world.nowMs += HOUR_MS;
    await world.change(run, (it) => scheduleTransitions.pause(it, ana, world.nowMs));
    await world.change(run, (it) => scheduleTransitions.resume(it, ana, world.nowMs));
    const { id } = world.digests[0] ?? { id: '' };
    await world.change(run, (it) => followEdition(it, { run: id, week: '2026-W38' }, world.nowMs));
    await world.until(world.nowMs, [run]);
    expect(world.posts).toHaveLength(2);
  });

  test('one that can be posted again, by hand, has the schedule go on', async () => {
    const run = await world.active();
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
    const run = await world.active();
    await world.until(DUE_MS, [run]);
    const friday = { weekday: 5, time: '09:00', zone: 'Europe/Berlin' };
    await world.change(run, (it) => changeSchedule(it, { timetable: friday }, world.nowMs));
    world.ending = () => ({ why: 'done' });
    await world.until(DUE_MS + 4 * DAY_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W38']);
    expect(await world.stored(run)).toMatchObject({ lastWeek: '2026-W38', failures: 0 });
    expect(world.posts).toHaveLength(1);
  });

  test('has figures collected again that could not be had before', async () => {
    const run = await world.active({ lastPages: 25_000 });
    world.failing = 'platform';
    await world.until(DUE_MS - 1, [run]);
    expect(world.collected).toHaveLength(2);
    world.failing = undefined;
    await world.until(DUE_MS, [run]);
    expect(world.collected.map(({ run: { failed } }) => failed)).toEqual(Array(4).fill(undefined));
  });

  test('between others that can, pauses nothing', async () => {
    const run = await world.active();
    let count = 0;
    world.ending = () => (count++ % 3 === 2 ? { why: 'done' } : { why: 'platform' });
    await world.until(DUE_MS + 8 * WEEK_MS + HOUR_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ state: 'active', failures: 0 });
    expect(world.posts).toHaveLength(6);
  });

  test.each([
    [{ why: 'place', code: 'is_archived' }, 'it is archived'],
    [{ why: 'place', code: 'restricted_action' }, "Slack doesn't let me post there (restricted_action)"],
    [{ why: 'project' }, 'my settings no longer have the project acme'],
    [{ why: 'platform' }, 'the platform gave no numbers'],
    [{ why: 'broken', ref: '7f3c1d' }, 'something broke on my side. ref 7f3c1d'],
  ] as const)('says why: %j', async (ended, text) => {
    const run = await world.active();
    world.ending = () => ended;
    await world.until(DUE_MS, [run]);
    expect(world.text(run, `failed.2026-W38.${DUE_MS}`)).toContain(text);
  });

  test('whose record is gone counts as posted', async () => {
    const run = await world.active();
    world.ending = () => undefined;
    await world.until(DUE_MS, [run]);
    const { posting } = await world.stored(run);
    await redis.client.del(`{docket}:run:${posting?.run}`);
    await world.until(DUE_MS + HOUR_MS, [run]);
    expect(await world.stored(run)).toMatchObject({ lastWeek: '2026-W38', failures: 0 });
  });
});

test('a schedule that breaks goes on with the next week, and its owner hears of it', async () => {
  const run = await world.active();
  await world.until(DUE_MS - 1, [run]);
  world.nowMs = DUE_MS;
  await scheduleJob.giveUp?.({ runId: run.id }, world.context(), '7f3c1d');
  expect(await world.stored(run)).toMatchObject({ state: 'active', failures: 1, nextAtMs: DUE_MS + WEEK_MS });
  expect(world.text(run, 'broken.7f3c1d')).toContain('ref 7f3c1d');
  await world.until(DUE_MS + WEEK_MS, [run]);
  expect(world.weeks()).toEqual(['2026-W39']);
});
