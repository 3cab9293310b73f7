import { describe, expect, test } from 'vitest';
import { scheduleTransitions as transitions } from '../../../../src/jobs/digest/schedule/record.ts';
import {
  DUE_MS,
  HOUR_MS,
  onScheduleWorlds,
  type ScheduleWorld,
  WEEK_MS,
} from '../../../support/jobs/digest/schedule-world.ts';
import type { JobContextParts } from '../../../support/jobs/world.ts';

let world: ScheduleWorld;
onScheduleWorlds((fresh) => {
  world = fresh;
});

const ben = { id: 'U0BEN', name: 'ben' };

/** Somebody of whom Slack says this. */
const person = (who: { active: boolean }): JobContextParts => ({
  policy: {
    check: async (id) => ({
      kind: 'refused',
      person: { id, name: id, fullMember: true, ...who },
      ask: 'ana',
    }),
  },
});

describe('the owner', () => {
  test('who may no longer set up digests: it pauses, and only the owner hears of it', async () => {
    const run = await world.active();
    await world.until(DUE_MS + 2 * WEEK_MS, [run], person({ active: true }));
    expect(world.weeks()).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'paused', pausedBy: 'permission' });
    expect([...world.published.values()].map(({ place }) => place)).toEqual([{ user: 'U0ANA' }]);
    await world.change(run, (it) => transitions.resume(it, ben, world.nowMs));
    await world.until(DUE_MS + 3 * WEEK_MS, [run]);
    expect(world.weeks()).toEqual(['2026-W41']);
    expect((await world.stored(run)).pausedBy).toBeUndefined();
  });

  test('of whom Slack says nothing is asked about again soon, and the digest is late', async () => {
    const run = await world.active();
    await world.until(DUE_MS + 2 * HOUR_MS, [run], { policy: { check: async () => ({ kind: 'unknown' }) } });
    expect(world.weeks()).toEqual([]);
    await world.until(DUE_MS + 2 * HOUR_MS + 60_000, [run]);
    expect(world.digests).toMatchObject([{ week: '2026-W38', dueAtMs: DUE_MS }]);
  });
});
