import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextPollMs } from '../../../src/jobs/engine/polling.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';

describe('the next poll', () => {
  const plan = (watched: Partial<Parameters<typeof nextPollMs>[0]>, second: number, jitter = 0.5) =>
    nextPollMs({ startedAtMs: 0, ...watched }, second * 1000, defaultTiming, jitter);

  test('comes after an eighth of the time that has passed where nothing else is known', () => {
    expect([8, 16, 80, 160, 800].map((second) => plan({}, second))).toEqual([
      1000, 2000, 10_000, 20_000, 30_000,
    ]);
  });

  test('comes after a quarter of the time that is left by the progress', () => {
    const half = { fraction: 0.5, movedAtMs: 50_000 };
    expect([50, 80, 99].map((second) => plan(half, second))).toEqual([12_500, 5000, 1000]);
    expect(plan(half, 120)).toBe(15_000);
  });

  test('is a whole number of milliseconds within the bounds, whatever was seen and the clock did', () => {
    const time = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
    const fraction = fc.double({ min: 0, max: 1, noNaN: true });
    const jitter = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.record({ startedAtMs: time, movedAtMs: time, fraction }),
        time,
        jitter,
        (watched, nowMs, spread) => {
          const ms = nextPollMs(watched, nowMs, defaultTiming, spread);
          expect(Number.isInteger(ms)).toBe(true);
          expect(ms).toBeGreaterThanOrEqual(defaultTiming.pollMinMs);
          expect(ms).toBeLessThanOrEqual(defaultTiming.pollMaxMs);
        },
      ),
    );
  });
});
