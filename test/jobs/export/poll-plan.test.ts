import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planPollMs, type Watched } from '../../../src/jobs/export/poll-plan.ts';
import { MAX_SNAPSHOTS } from '../../../src/jobs/poll-record.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import {
  adaptive,
  broken,
  brokenMix,
  figuresOf,
  numbers,
  shapes,
  together,
  watchMix,
} from '../../support/jobs/export/polling.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const plan = (changes: Partial<Watched>, nowMs: number, jitter = 0.5) =>
  planPollMs({ startedAtMs: 0, snapshots: [], durationsMs: [], ...changes }, nowMs, defaultTiming, jitter);

describe('the plan', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  const watched: fc.Arbitrary<Watched> = fc.record({
    startedAtMs: time,
    snapshots: fc.array(fc.oneof(fc.record({ atMs: time }), fc.record({ atMs: time, fraction })), {
      maxLength: MAX_SNAPSHOTS,
    }),
    durationsMs: fc.array(fc.oneof(fc.nat(10 * MINUTE), fc.double({ min: 0, max: 1e15, noNaN: true })), {
      maxLength: 20,
    }),
  });
  const bounds = fc
    .tuple(fc.integer({ min: 1, max: 100_000 }), fc.nat(100_000))
    .map(([pollMinMs, more]) => ({ pollMinMs, pollMaxMs: pollMinMs + more }));
  const jitter = fc.double({ min: 0, max: 1, noNaN: true });

  test('is a whole number of milliseconds within the bounds, whatever was seen, was kept, and the clock did', () => {
    fc.assert(
      fc.property(watched, time, bounds, jitter, (of, nowMs, limits, spread) => {
        const ms = planPollMs(of, nowMs, limits, spread);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(limits.pollMinMs);
        expect(ms).toBeLessThanOrEqual(limits.pollMaxMs);
      }),
      { numRuns: 1000 },
    );
  });

  test('is spread a little, so that runs that began together do not stay together', () => {
    const pauses = [0, 0.5, 1].map((spread) => plan({}, MINUTE, spread));
    expect(pauses[0]).toBeLessThan(pauses[1] ?? 0);
    expect(pauses[1]).toBeLessThan(pauses[2] ?? 0);
  });

  test('is about every 10 s where nothing is known, sooner at first, and later after an hour', () => {
    expect(plan({}, 0)).toBeLessThan(5 * SECOND);
    for (const minutes of [1, 5, 30]) {
      expect(plan({}, minutes * MINUTE)).toBeGreaterThan(9 * SECOND);
      expect(plan({}, minutes * MINUTE)).toBeLessThan(11 * SECOND);
    }
    expect(plan({}, 90 * MINUTE)).toBeGreaterThan(25 * SECOND);
  });

  test('has few polls before the earlier durations, many among them, and fewer after them', () => {
    const durationsMs = Array.from({ length: 20 }, (_, index) => (9 + index / 10) * MINUTE);
    expect(plan({ durationsMs }, 2 * MINUTE)).toBe(30 * SECOND);
    expect(plan({ durationsMs }, 10 * MINUTE)).toBeLessThan(7 * SECOND);
    expect(plan({ durationsMs }, 14 * MINUTE)).toBeGreaterThan(9 * SECOND);
  });

  test('has more polls where earlier exports took alike than where they did not', () => {
    const alike = Array.from({ length: 20 }, () => 10 * MINUTE);
    const unlike = alike.map((ms, index) => ms * (0.3 + index * 0.07));
    const at = 10 * MINUTE - 5 * SECOND;
    expect(plan({ durationsMs: alike }, at)).toBeLessThan(plan({ durationsMs: unlike }, at));
  });

  const even = (nowMs: number, wholeMs: number) => [
    { atMs: 0, fraction: 0 },
    { atMs: nowMs, fraction: nowMs / wholeMs },
  ];

  test('meets the end that even progress promises, without a poll in between that nothing calls for', () => {
    const snapshots = even(31 * SECOND, 37 * SECOND);
    expect(plan({ snapshots }, 31 * SECOND)).toBeGreaterThan(5 * SECOND);
    expect(plan({ snapshots }, 31 * SECOND)).toBeLessThan(7 * SECOND);
  });

  test('believes less of a promised end where earlier exports took longer', () => {
    const snapshots = even(58 * SECOND, 59 * SECOND);
    const durationsMs = [150, 155, 160, 165, 170].map((seconds) => seconds * SECOND);
    expect(plan({ snapshots, durationsMs }, 58 * SECOND)).toBeGreaterThan(
      2 * plan({ snapshots }, 58 * SECOND),
    );
  });

  test('goes back to what earlier exports took once the promised end has passed', () => {
    const snapshots = [...even(100 * SECOND, 101 * SECOND), { atMs: 140 * SECOND, fraction: 100 / 101 }];
    const durationsMs = [136, 139, 142, 145, 148].map((seconds) => seconds * SECOND);
    expect(plan({ snapshots, durationsMs }, 140 * SECOND)).toBeLessThan(6 * SECOND);
    expect(plan({ snapshots }, 140 * SECOND)).toBeGreaterThan(8 * SECOND);
  });

  test('keeps progress live: at most 10 s in the first half minute, then a third of the time, never more than 30 s', () => {
    const durationsMs = Array.from({ length: 20 }, () => 20 * MINUTE);
    const at = (nowMs: number) => plan({ snapshots: even(nowMs, 20 * MINUTE), durationsMs }, nowMs);
    expect([1, 20, 60, 600].map((seconds) => at(seconds * SECOND))).toEqual([10_000, 10_000, 20_000, 30_000]);
    expect(plan({ durationsMs }, SECOND)).toBe(30_000);
  });

  test('is late by no more than the longest pause when an export takes much less than earlier ones', () => {
    const random = numbers(1);
    const durationsMs = [30 * MINUTE, 31 * MINUTE];
    for (const shape of Object.values(shapes)) {
      const watch = adaptive(10 * MINUTE, shape, durationsMs, random);
      expect(watch.lagMs).toBeLessThanOrEqual(defaultTiming.pollMaxMs);
    }
  });
});

describe('against a poll every 10 s, over exports of 20 s to 30 minutes', () => {
  const mix = watchMix([1], 10).map(({ shape, byLength }) => ({ shape, watches: together(byLength) }));

  test.each(mix)(
    '$shape: no more polls and no later, with earlier durations; without, not by a fifth',
    ({ watches }) => {
      const fixed = figuresOf(watches.fixed);
      expect(broken('known', figuresOf(watches.known), fixed)).toEqual([]);
      expect(broken('unknown', figuresOf(watches.unknown), fixed)).toEqual([]);
    },
  );

  test('all together: 0.6 of the polls and 0.4 of the lag', () => {
    const all = together(mix.map(({ watches }) => watches));
    expect(brokenMix(figuresOf(all.known), figuresOf(all.fixed))).toEqual([]);
  });

  test('the bounds tell a plan that is worse', () => {
    const fixed = figuresOf(mix.flatMap(({ watches }) => watches.fixed));
    const worse = { ...fixed, lagP95Ms: fixed.lagP95Ms * 1.1, polls: fixed.polls * 1.3, gapMs: 31_000 };
    expect(broken('known', worse, fixed)).toEqual(['polls', 'lagP95Ms', 'gapMs']);
    expect(broken('unknown', worse, fixed)).toEqual(['polls', 'gapMs']);
    expect(brokenMix(fixed, fixed)).toEqual(['polls', 'lagMs']);
  });
});
