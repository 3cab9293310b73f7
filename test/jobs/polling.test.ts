import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addSnapshot, MAX_SNAPSHOTS, type Snapshot } from '../../src/jobs/poll-record.ts';
import { estimateEnd, isNearEnd, nextPollMs } from '../../src/jobs/polling.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';

describe('the next poll of a job that says nothing of its progress', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
  const bounds = fc
    .tuple(fc.integer({ min: 1, max: 100_000 }), fc.nat(100_000))
    .map(([pollMinMs, more]) => ({ pollMinMs, pollMaxMs: pollMinMs + more }));
  const jitter = fc.double({ min: 0, max: 1, noNaN: true });

  test('is a whole number of milliseconds within the bounds, whatever the clock did', () => {
    fc.assert(
      fc.property(time, time, bounds, jitter, (startedAtMs, nowMs, limits, spread) => {
        const ms = nextPollMs(startedAtMs, nowMs, limits, spread);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(limits.pollMinMs);
        expect(ms).toBeLessThanOrEqual(limits.pollMaxMs);
      }),
      { numRuns: 1000 },
    );
  });

  test('is ever later', () => {
    const pauses = [8, 16, 80, 160, 800].map((seconds) => nextPollMs(0, seconds * 1000, defaultTiming, 0.5));
    expect(pauses).toEqual([1000, 2000, 10_000, 20_000, 30_000]);
  });

  test('is spread a little, so that runs that began together do not stay together', () => {
    expect([0, 0.5, 1].map((spread) => nextPollMs(0, 80_000, defaultTiming, spread))).toEqual([
      9000, 10_000, 11_000,
    ]);
  });
});

/** Snapshots at so many seconds. */
const seen = (...of: [second: number, fraction?: number][]): Snapshot[] =>
  of.map(([second, fraction]) => ({ atMs: second * 1000, ...(fraction !== undefined && { fraction }) }));

describe('the estimate of the end', () => {
  test('goes on at the rate between the polls', () => {
    expect(estimateEnd(seen([0, 0], [10, 0.22]))?.atMs).toBeCloseTo(45_455, 0);
  });

  test('takes a step to have been reached between the two polls around it, and says how far that may be wrong', () => {
    const end = estimateEnd(seen([0, 0], [20, 0], [30, 0.25], [40, 0.25]));
    expect(end?.atMs).toBe(100_000);
    expect(end?.errorMs).toBeGreaterThan(30_000);
    const closer = estimateEnd(seen([0, 0], [24, 0], [26, 0.25], [40, 0.25]));
    expect(closer?.atMs).toBe(100_000);
    expect(closer?.errorMs).toBeLessThan(10_000);
  });

  test('does not take polls that keep time with the steps for even progress', () => {
    expect(estimateEnd(seen([0, 0], [30, 0.1], [60, 0.2]))?.errorMs).toBeGreaterThan(30_000);
    expect(estimateEnd(seen([0, 0], [30, 0.11], [60, 0.22]))?.errorMs).toBeLessThan(30_000);
  });

  test('begins again where the progress went back', () => {
    expect(estimateEnd(seen([0, 0.5], [10, 0.91], [20, 0.11], [30, 0.22]))?.atMs).toBeCloseTo(100_909, 0);
  });

  test.each<[string, Snapshot[]]>([
    ['nothing was ever told', []],
    ['one poll told something', seen([0, 0.5])],
    ['nothing moved', seen([0, 0.5], [9, 0.5])],
    ['it went back', seen([0, 0.5], [9, 0.4])],
    ['two polls were at the same instant', seen([5, 0.1], [5, 0.2])],
    ['a clock was set back', seen([9, 0.1], [5, 0.2])],
  ])('is missing when %s', (_, snapshots) => {
    expect(estimateEnd(snapshots)).toBeUndefined();
  });
});

describe('the end of a job', () => {
  // Ends at 100 s, at the rate seen.
  const half = seen([0, 0], [50, 0.5]);

  test('is near from 10 s before it is expected until 10 s after', () => {
    const times = [89_999, 90_000, 100_000, 110_000, 110_001];
    expect(times.map((nowMs) => isNearEnd(half, nowMs))).toEqual([false, true, true, true, false]);
  });

  test('is never near without a rate to go by', () => {
    expect(isNearEnd(seen([0, 0.99]), 1000)).toBe(false);
  });
});

describe('the snapshots that are kept', () => {
  const keep = (all: readonly Snapshot[]) => all.reduce<Snapshot[]>(addSnapshot, []);

  test('are of one level the first and the last, so that a rate is known however long it stays', () => {
    const stuck = Array.from({ length: 50 }, (_, index): [number, number] => [100 + index, 0.99]);
    expect(keep(seen([0, 0], [50, 0.5], ...stuck))).toEqual(
      seen([0, 0], [50, 0.5], [100, 0.99], [149, 0.99]),
    );
  });

  test('are the last ones, also of a job that says nothing', () => {
    const all = seen(...Array.from({ length: 20 }, (_, index): [number] => [index]));
    expect(keep(all)).toEqual(all.slice(-MAX_SNAPSHOTS));
  });
});
