import { afterEach, describe, expect, test, vi } from 'vitest';
import { startSweeper } from '../../src/jobs/sweeper.ts';
import { keptLog } from '../support/runtime/log.ts';

/**
 * A sweeper over what the test says is there: one list, or one error, for each sweep, nothing after the last. The
 * story is what happened, in order.
 */
function sweeping(finds: (string[] | Error)[], ensure: (name: string) => Promise<void> = async () => {}) {
  const story: string[] = [];
  const { log, text } = keptLog();
  let sweeps = 0;
  const sweeper = startSweeper({
    async find() {
      const found = finds[sweeps] ?? [];
      sweeps += 1;
      story.push(`sweep ${sweeps}`);
      if (found instanceof Error) throw found;
      return found.map((name) => async () => {
        story.push(name);
        await ensure(name);
      });
    },
    everyMs: 0,
    log,
  });
  stops.push(() => sweeper.stop());
  return {
    sweeper,
    sweeps: () => sweeps,
    log: text,
    /** What happened in the first so many sweeps, as soon as they are over: the next one has begun. */
    async first(count: number) {
      await vi.waitUntil(() => sweeps > count, { interval: 1, timeout: 10_000 });
      return story.slice(0, story.indexOf(`sweep ${count + 1}`));
    },
  };
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

describe('a sweep that fails', () => {
  test('is reported, and the next one comes', async () => {
    const { first, log } = sweeping([new Error('Redis is away'), ['a']]);
    expect(await first(2)).toEqual(['sweep 1', 'sweep 2', 'a']);
    expect(log()).toContain('sweep failed');
    expect(log()).toContain('Redis is away');
  });

  test('over one piece of work does not hold up the others', async () => {
    const { first, log } = sweeping([['broken', 'a', 'b']], async (name) => {
      if (name === 'broken') throw new Error('No job is called digest');
    });
    expect(await first(1)).toEqual(['sweep 1', 'broken', 'a', 'b']);
    expect(log()).toContain('No job is called digest');
  });
});
