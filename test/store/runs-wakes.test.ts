import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { keys } from '../../src/store/keys.ts';
import { aNote, note } from '../support/store/builders.ts';
import { runsForTests } from '../support/store/world.ts';

const { redis, runs, accept, holder } = runsForTests();

describe('waking', () => {
  const open = () => runs.loadWithInbox('r1', note);

  test('has an idle run stepped, and is counted', async () => {
    await accept(aNote());
    await runs.markIdle(aNote(), false);
    expect(await open()).toEqual({ run: aNote(), inbox: [], wakes: 0 });
    await runs.markDue('export', 'r1');
    await runs.markDue('export', 'r1');
    expect(await runs.active()).toEqual([{ job: 'export', id: 'r1' }]);
    expect(await open()).toEqual({ run: aNote(), inbox: [], wakes: 2 });
  });

  test('keeps a run from becoming idle by a step that has not seen it', async () => {
    await accept(aNote());
    await runs.markDue('export', 'r1');
    expect(await runs.markIdle(aNote(), true, 0)).toBe(false);
    expect(await runs.active()).toHaveLength(1);
    expect(await holder()).toBe('r1');
    expect(await runs.markIdle(aNote(), true, 1)).toBe(true);
    expect(await runs.active()).toEqual([]);
  });

  test('is not needed for marking idle', async () => {
    await accept(aNote());
    expect(await runs.markIdle(aNote(), false, (await open())?.wakes)).toBe(true);
  });

  test('is in nobody’s way who does not count', async () => {
    await accept(aNote());
    await runs.markDue('export', 'r1');
    expect(await runs.markIdle(aNote(), true)).toBe(true);
  });

  test('makes a run due that waits for its time', async () => {
    await accept(aNote());
    await redis.client.zadd(keys.activeRuns(), 9e12, 'export r1');
    await runs.markDue('export', 'r1');
    const dueMs = Number(await redis.client.zscore(keys.activeRuns(), 'export r1'));
    expect(dueMs).toBeLessThanOrEqual(await runs.timeMs());
  });

  test('is what a change by a person does, too', async () => {
    await accept(aNote());
    await runs.resume(aNote(), (await runs.timeMs()) + 10_000, 0);
    expect((await open())?.wakes).toBe(1);
  });

  test('survives a save', async () => {
    await accept(aNote());
    await runs.markDue('export', 'r1');
    await runs.save(aNote());
    expect(await open()).toMatchObject({ run: { rev: 2 }, wakes: 1 });
  });

  test('brings back no run that is gone', async () => {
    await runs.markDue('export', 'r1');
    expect(await redis.client.keys('*')).toEqual([]);
    expect(await open()).toBeUndefined();
  });

  test('and opening tell of a damaged record', async () => {
    await accept(aNote());
    await redis.client.hset(keys.run('r1'), 'json', '{}');
    await expect(open()).rejects.toThrow(z.ZodError);
  });
});
