import { describe, expect, test } from 'vitest';
import type { AdminAlert } from '../../../../src/jobs/alerts/admin-alert.ts';
import { weeklyId } from '../../../../src/jobs/digest/edition/record.ts';
import { createOwnerLookups } from '../../../../src/jobs/digest/schedule/owner-lookups.ts';
import {
  changeSchedule,
  followEdition,
  scheduleTransitions as transitions,
} from '../../../../src/jobs/digest/schedule/transitions.ts';
import type { Log } from '../../../../src/runtime/log.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';
import {
  aSchedule,
  DAY_MS,
  DUE_MS,
  HOUR_MS,
  onScheduleWorlds,
  type ScheduleWorld,
  WEEK_MS,
} from '../../../support/jobs/digest/schedule-world.ts';
import type { JobContextParts } from '../../../support/jobs/world.ts';

let world: ScheduleWorld;
const redis = onScheduleWorlds((fresh) => {
  world = fresh;
});

const ben = { id: 'U0BEN', name: 'ben' };

describe('a person', () => {
  test('pauses a schedule: nothing is posted, and nothing is caught up later', async () => {
    const run = await world.active();
    await world.change(run, (it) => transitions.pause(it, ben, world.nowMs));
    await world.until(DUE_MS + HOUR_MS, [run]);
    await world.change(run, (it) => transitions.resume(it, ben, world.nowMs));
    await world.until(DUE_MS + WEEK_MS - 1, [run]);
    expect(world.weeks()).toEqual([]);
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W39']);
    expect(world.digests[0]?.late).toBeUndefined();
  });

  test('removes a schedule while a digest is posted: that is finished, no other comes, and its place is free', async () => {
    const run = await world.active();
    world.ending = () => undefined;
    await world.until(DUE_MS, [run]);
    await world.change(run, (it) => transitions.remove(it, ben, world.nowMs));
    world.ending = () => ({ why: 'done' });
    await world.until(DUE_MS + 2 * WEEK_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W38']);
    expect(await world.runs.active()).toEqual([]);
    expect(await redis.client.keys('*claim*')).toEqual([]);
    expect(await redis.client.pttl(`{docket}:run:${run.id}`)).toBeGreaterThan(0);
  });

  test('creates a removed schedule once more: the week that was posted is not posted again', async () => {
    const run = await world.active();
    await world.until(DUE_MS, [run]);
    await world.change(run, (it) => transitions.remove(it, ben, world.nowMs));
    await world.until(DUE_MS + HOUR_MS, [run]);
    const friday = { weekday: 5, time: '09:00', zone: 'Europe/Berlin' };
    const again = await world.given(
      aSchedule({ id: 'again', timetable: friday, nextAtMs: DUE_MS + 4 * DAY_MS }),
    );
    await world.until(DUE_MS + 5 * DAY_MS, [run, again]);
    expect(world.weeks()).toEqual(['2026-W38']);
    expect(await world.stored(again)).toMatchObject({ lastWeek: '2026-W38', failures: 0 });
    await world.until(DUE_MS + 12 * DAY_MS, [again]);
    expect(world.weeks()).toEqual(['2026-W38', '2026-W39']);
  });

  test('moves a schedule from Monday to Friday: the next digest is that of the next week', async () => {
    const run = await world.active();
    await world.until(DUE_MS + HOUR_MS, [run]);
    const timetable = { weekday: 5, time: '09:00', zone: 'Europe/Berlin' };
    await world.change(run, (it) => changeSchedule(it, { timetable }, world.nowMs));
    expect(await world.stored(run)).toMatchObject({ nextAtMs: DUE_MS + 11 * DAY_MS });
    await world.until(DUE_MS + 11 * DAY_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W38', '2026-W39']);
  });

  test('has the week posted by hand: it is not posted again when it is due', async () => {
    world.nowMs = Date.UTC(2026, 8, 21, 2);
    const run = await world.active();
    const week = '2026-W38';
    const id = weeklyId(run.teamId, run.channel, run.project, week);
    world.ending = () => undefined;
    await world.until(DUE_MS, [run]);
    await world.change(run, (it) => followEdition(it, { run: id, week, by: 'U0BEN' }, world.nowMs));
    world.ending = () => ({ why: 'done' });
    await world.until(DUE_MS + DAY_MS, [run]);
    expect(world.weeks()).toEqual([week]);
    expect(await world.stored(run)).toMatchObject({ lastWeek: week, nextAtMs: DUE_MS + WEEK_MS });
  });
});

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

describe('the owner', () => {
  test('who has left: the channel is told once, the digest goes on, and somebody takes it over', async () => {
    const run = await world.active();
    await world.until(DUE_MS + 3 * WEEK_MS, [run], person({ active: false }));
    expect(world.weeks()).toHaveLength(4);
    expect(world.posts).toEqual([
      'The weekly digest of docs.acme.com continues, but ana, who set it up, has left.\n' +
        'The new owner gets a message if it cannot be posted.',
    ]);
    expect(world.published.get(`${run.id}.left.U0ANA`)).toMatchObject({ place: { channel: 'C0DOCS' } });
    await world.change(run, (it) => transitions.takeOver(it, ben, world.nowMs));
    await world.until(DUE_MS + 4 * WEEK_MS, [run]);
    expect(world.digests.at(-1)?.owner).toEqual(ben);
    expect(world.text(run, 'left.U0ANA')).toContain('ben took over');
    const now = await world.stored(run);
    expect([now.ownerLeft, now.takenFrom]).toEqual([undefined, undefined]);
  });

  test('who has left hears of no failure: the channel does', async () => {
    const run = await world.active();
    world.ending = () => ({ why: 'platform' });
    await world.until(DUE_MS, [run], person({ active: false }));
    expect(world.published.get(`${run.id}.failed.2026-W38.${DUE_MS}`)).toMatchObject({
      place: { channel: 'C0DOCS' },
    });
  });

  test('who has left, and the channel is gone: it pauses, and the admins are told once', async () => {
    const run = await world.active();
    world.ending = () => ({ why: 'place', code: 'is_archived' });
    const alerts: AdminAlert[] = [];
    const sendAdminAlert = async (_team: string, alert: AdminAlert) => alerts.push(alert) > 0;
    await world.until(DUE_MS + 5 * WEEK_MS, [run], { ...person({ active: false }), sendAdminAlert });
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedByFailures: true, failures: 1 });
    expect(world.weeks()).toEqual(['2026-W38']);
    expect(alerts).toMatchObject([{ messageKeyPrefix: `${run.id}.abandoned.2026-W38`, once: true }]);
    expect(alerts[0]?.message.text).toBe(
      "The digest of docs.acme.com couldn't be posted in <#C0DOCS>: it is archived.\nUnarchive it, then [Send now]; or remove this digest.\nana, who set it up, has left. Paused; it resumes once a post succeeds.",
    );
    // Nothing but what the channel would be told if it took posts.
    expect([...world.published.keys()]).toEqual([`${run.id}.left.U0ANA`]);
  });

  test('who has left, and the admins cannot be looked up: they are told as soon as they can', async () => {
    const run = await world.active();
    world.ending = () => ({ why: 'place', code: 'not_in_channel' });
    const left = person({ active: false });
    const sendAdminAlert = () => Promise.reject(new Error('Slack is away'));
    await expect(world.until(DUE_MS, [run], { ...left, sendAdminAlert })).rejects.toThrow('away');
    const names: string[] = [];
    const works = async (_team: string, { name }: AdminAlert) => names.push(name) > 0;
    await world.until(DUE_MS + HOUR_MS, [run], { ...left, sendAdminAlert: works });
    expect(names).toEqual([`digest:${run.id}:2026-W38`]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused' });
  });

  test('who may no longer set up digests: it pauses, and only the owner hears of it', async () => {
    const run = await world.active();
    await world.until(DUE_MS + 2 * WEEK_MS, [run], person({ active: true }));
    expect(world.weeks()).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedByPermission: true });
    expect([...world.published.values()].map(({ place }) => place)).toEqual([{ user: 'U0ANA' }]);
    await world.change(run, (it) => transitions.resume(it, ben, world.nowMs));
    await world.until(DUE_MS + 3 * WEEK_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W41']);
    expect((await world.stored(run)).pausedByPermission).toBeUndefined();
  });

  test('of whom Slack says nothing is asked about again soon, and the digest is late', async () => {
    const run = await world.active();
    await world.until(DUE_MS + 2 * HOUR_MS, [run], { policy: { check: async () => ({ kind: 'unknown' }) } });
    expect(world.weeks()).toEqual([]);
    await world.until(DUE_MS + 2 * HOUR_MS + 60_000, [run]);
    expect(world.digests).toMatchObject([{ week: '2026-W38', late: true }]);
  });

  test('of whom Slack says nothing for two days is a problem for operators until it does', async () => {
    const run = await world.active();
    const logged: string[] = [];
    const log = { warn: (text: string) => logged.push(text), info: (text: string) => logged.push(text) };
    const lookups = createOwnerLookups({ now: () => world.nowMs, log: log as unknown as Log });
    const away: JobContextParts = {
      ownerLookups: lookups,
      // Seldom, so that three days are few steps.
      timing: { ...defaultTiming, retryMinMs: 300_000, retryMaxMs: 300_000 },
      policy: { check: async () => ({ kind: 'unknown' }) },
    };
    await world.until(DUE_MS + HOUR_MS - 60_000, [run], away);
    expect(lookups.problem()).toBeUndefined();
    await world.until(DUE_MS + HOUR_MS + 60_000, [run], away);
    expect(lookups.problem()).toMatch(
      /^Since 2026-09-21T07:00:00.000Z Slack has not said .* 1 weekly digest /,
    );
    // Skipped by then, with a note to the owner.
    await world.until(DUE_MS + 3 * DAY_MS, [run], away);
    expect(world.posts).toHaveLength(1);
    expect(lookups.problem()).toContain('Since 2026-09-21T07:00:00.000Z');
    await world.until(DUE_MS + 3 * DAY_MS + 600_000, [run], { ownerLookups: lookups });
    expect(lookups.problem()).toBeUndefined();
    expect(logged).toEqual([
      expect.stringContaining('Since 2026'),
      'Slack says again who may have weekly digests',
    ]);
    expect((await world.stored(run)).unknownSinceMs).toBeUndefined();
    await world.until(DUE_MS + WEEK_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W39']);
  });
});

test('what another process has found to work is no problem for long', () => {
  let nowMs = DUE_MS + 2 * HOUR_MS;
  const lookups = createOwnerLookups({ now: () => nowMs, log: { warn() {}, info() {} } as unknown as Log });
  lookups.record('schedule-1', DUE_MS);
  lookups.record('schedule-2', DUE_MS + 1);
  expect(lookups.problem()).toContain('the owners of 2 weekly digests');
  nowMs += 15 * 60_000;
  expect(lookups.problem()).toBeUndefined();
});
