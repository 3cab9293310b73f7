import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_SNAPSHOTS, type Snapshot } from '../../src/jobs/poll-record.ts';
import { isNearEnd, nextPollMs } from '../../src/jobs/polling.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import {
  adaptive,
  around,
  fixed,
  numbers,
  type Shape,
  shapes,
  type Watch,
} from '../support/jobs/export/polling.ts';

const MINUTE = 60_000;

describe('the next poll', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  const looks: fc.Arbitrary<Snapshot[]> = fc.array(
    fc.oneof(fc.record({ atMs: time }), fc.record({ atMs: time, fraction })),
    { maxLength: MAX_SNAPSHOTS },
  );
  const someBounds = fc
    .tuple(fc.integer({ min: 1, max: 100_000 }), fc.nat(100_000))
    .map(([pollMinMs, more]) => ({ pollMinMs, pollMaxMs: pollMinMs + more }));
  const jitter = fc.double({ min: 0, max: 1, noNaN: true });

  test('is a whole number of milliseconds within the bounds, whatever was seen and whatever the clock did', () => {
    fc.assert(
      fc.property(looks, time, time, someBounds, jitter, (seen, startedAtMs, nowMs, limits, spread) => {
        const ms = nextPollMs(seen, startedAtMs, nowMs, limits, spread);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(limits.pollMinMs);
        expect(ms).toBeLessThanOrEqual(limits.pollMaxMs);
      }),
      { numRuns: 1000 },
    );
  });

  test('is for a job at a steady rate after half of the time that it still seems to need', () => {
    const seen = [
      { atMs: 0, fraction: 0 },
      { atMs: 10_000, fraction: 0.25 },
    ];
    expect(nextPollMs(seen, 0, 10_000, defaultTiming, 0.5)).toBe(15_000);
  });

  test('is spread a little, so that runs that began together do not stay together', () => {
    const at = (spread: number) => nextPollMs([], 0, 80_000, defaultTiming, spread);
    expect([at(0), at(0.5), at(1)]).toEqual([9000, 10_000, 11_000]);
  });

  test.each<[string, Snapshot[]]>([
    ['nothing was ever told', []],
    ['one look told something', [{ atMs: 0, fraction: 0.5 }]],
    [
      'nothing moved',
      [
        { atMs: 0, fraction: 0.5 },
        { atMs: 9000, fraction: 0.5 },
      ],
    ],
    [
      'it went back',
      [
        { atMs: 0, fraction: 0.5 },
        { atMs: 9000, fraction: 0.4 },
      ],
    ],
  ])('is ever later when %s', (_, seen) => {
    const pauses = [8, 16, 80, 160, 800].map((seconds) =>
      nextPollMs(seen, 0, seconds * 1000, defaultTiming, 0.5),
    );
    expect(pauses).toEqual([1000, 2000, 10_000, 20_000, 30_000]);
  });

  test('is later and later for a job that is overdue', () => {
    const seen = [
      { atMs: 0, fraction: 0 },
      { atMs: 10_000, fraction: 0.9 },
    ];
    const pauses = [12_000, 20_000, 40_000, 600_000].map((nowMs) =>
      nextPollMs(seen, 0, nowMs, defaultTiming, 0.5),
    );
    expect(pauses).toEqual([1000, 4444, 14_444, 30_000]);
  });

  test('gets over two polls at the same instant', () => {
    const seen = [
      { atMs: 5000, fraction: 0.1 },
      { atMs: 5000, fraction: 0.2 },
    ];
    expect(nextPollMs(seen, 0, 5000, defaultTiming, 0.5)).toBe(defaultTiming.pollMinMs);
  });
});

describe('the end of a job', () => {
  // Ends at 100 s, at the rate seen.
  const seen = [
    { atMs: 0, fraction: 0 },
    { atMs: 50_000, fraction: 0.5 },
  ];

  test('is near from 10 s before it is expected until 10 s after', () => {
    const times = [89_999, 90_000, 100_000, 110_000, 110_001];
    expect(times.map((nowMs) => isNearEnd(seen, nowMs))).toEqual([false, true, true, true, false]);
  });

  test('is never near without a rate to go by', () => {
    expect(isNearEnd([{ atMs: 0, fraction: 0.99 }], 1000)).toBe(false);
  });
});

describe('against a poll every 10 s', () => {
  function mean(aboutMs: number, watch: (durationMs: number) => Watch): Watch {
    const all = around(aboutMs).map(watch);
    const average = (of: (one: Watch) => number) => all.reduce((sum, one) => sum + of(one), 0) / all.length;
    return { polls: average(({ polls }) => polls), lagMs: average(({ lagMs }) => lagMs) };
  }

  function compare(aboutMs: number, shape: Shape) {
    const random = numbers();
    return {
      ours: mean(aboutMs, (durationMs) => adaptive(durationMs, shape, random)),
      fixed: mean(aboutMs, fixed),
    };
  }

  const long = [2 * MINUTE, 6 * MINUTE, 40 * MINUTE];

  test.each(long)(
    'an export of %i ms that reports its progress: no more polls, and a shorter lag',
    (aboutMs) => {
      const { ours, fixed } = compare(aboutMs, shapes.linear);
      expect(ours.polls).toBeLessThanOrEqual(fixed.polls);
      expect(ours.lagMs).toBeLessThan(fixed.lagMs);
    },
  );

  test.each(long)('an export of %i ms in whole percents: no more polls, and a shorter lag', (aboutMs) => {
    const { ours, fixed } = compare(aboutMs, shapes.percent);
    expect(ours.polls).toBeLessThanOrEqual(fixed.polls);
    expect(ours.lagMs).toBeLessThan(fixed.lagMs);
  });

  test('a short export is seen sooner, for some polls more', () => {
    for (const shape of Object.values(shapes)) {
      const { ours, fixed } = compare(20_000, shape);
      expect(ours.lagMs).toBeLessThan(fixed.lagMs);
      expect(ours.polls).toBeLessThan(20);
    }
  });

  test('a job that reports nothing is polled less and less often, never later than 30 s or its eighth', () => {
    for (const aboutMs of long) {
      const lateMs = 1.1 * Math.min(defaultTiming.pollMaxMs / 1.1, aboutMs / 7);
      const random = numbers();
      mean(aboutMs, (durationMs) => {
        const watch = adaptive(durationMs, shapes.none, random);
        expect(watch.lagMs).toBeLessThanOrEqual(lateMs);
        return watch;
      });
    }
    const { ours, fixed } = compare(40 * MINUTE, shapes.none);
    expect(ours.polls).toBeLessThan(fixed.polls / 2);
  });
});
