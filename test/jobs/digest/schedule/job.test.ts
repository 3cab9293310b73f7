import { describe, expect, test } from 'vitest';
import {
  aSchedule,
  createScheduleWorld,
  DUE_MS,
  onScheduleWorlds,
  type ScheduleWorld,
  WEEK_MS,
} from '../../../support/jobs/digest/schedule-world.ts';
import type { JobContextParts } from '../../../support/jobs/world.ts';

let world: ScheduleWorld;
const redis = onScheduleWorlds((fresh) => {
  world = fresh;
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
