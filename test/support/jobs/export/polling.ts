import { quantile } from '../../../../bench/parts/figures.ts';
import { seenDurationMs } from '../../../../src/jobs/export/durations.ts';
import { planPollMs } from '../../../../src/jobs/export/poll-plan.ts';
import { addSnapshot, type Snapshot } from '../../../../src/jobs/poll-record.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';
import { MAX_DURATIONS } from '../../../../src/store/durations.ts';

/** How an export job was polled from its start to the poll that found it ended. */
export interface Watch {
  polls: number;
  /** From the end of the job to the poll that finds it ended. */
  lagMs: number;
  /** The longest time between two polls, from the start to the end. */
  gapMs: number;
  /** How long it seems to have taken, as it would be kept for the next ones. */
  seenMs?: number | undefined;
}

/** What a platform reports of the progress when `done` (0 to 1) of the time has passed. */
export type Shape = (done: number) => number | undefined;

export const shapes = {
  linear: (done) => done,
  percent: (done) => Math.floor(done * 100) / 100,
  'ten steps': (done) => Math.floor(done * 10) / 10,
  'four steps': (done) => Math.floor(done * 4) / 4,
  'stuck at 99%': (done) => Math.min(0.99, Math.floor((done / 0.7) * 100) / 100),
  none: () => undefined,
} satisfies Record<string, Shape>;

/** As the job does it: the answer to the start is the first snapshot. */
export function adaptive(
  durationMs: number,
  shape: Shape,
  durationsMs: readonly number[],
  random: () => number,
): Watch {
  let snapshots: Snapshot[] = [];
  const addAt = (atMs: number) => {
    const fraction = shape(atMs / durationMs);
    snapshots = addSnapshot(snapshots, { atMs, ...(fraction !== undefined && { fraction }) });
  };
  addAt(0);
  let nowMs = 0;
  let gapMs = 0;
  for (let polls = 1; ; polls += 1) {
    const watched = { startedAtMs: 0, snapshots, durationsMs };
    const pauseMs = planPollMs(watched, nowMs, defaultTiming, random());
    gapMs = Math.max(gapMs, pauseMs);
    const lastRunningMs = nowMs;
    nowMs += pauseMs;
    if (nowMs >= durationMs) {
      const seenMs = seenDurationMs({ startedAtMs: 0, lastRunningMs, foundEndedMs: nowMs });
      return { polls, lagMs: nowMs - durationMs, gapMs, seenMs };
    }
    addAt(nowMs);
  }
}

/** A poll every 10 s, whatever was seen. */
function fixed(durationMs: number): Watch {
  const polls = Math.ceil(durationMs / 10_000);
  return { polls, lagMs: polls * 10_000 - durationMs, gapMs: 10_000 };
}

/** Lengths of exports: each is that of one domain, whose exports take up to a fifth more or less. */
export const LENGTHS_MS = [20, 60, 120, 300, 600, 1800].map((seconds) => seconds * 1000);
const SPREAD = 0.2;

export type Mode = 'known' | 'unknown' | 'fixed';
export type Watches = Record<Mode, Watch[]>;

/**
 * Returns how exports of one domain are polled by what the last 20 of it took, without that, and every 10 s. What earlier
 * ones took is what was seen of them.
 */
function watchDomain(aboutMs: number, shape: Shape, count: number, random: () => number): Watches {
  const seenMs: number[] = [];
  const watches: Watches = { known: [], unknown: [], fixed: [] };
  for (let index = -MAX_DURATIONS; index < count; index += 1) {
    const durationMs = Math.round(aboutMs * (1 - SPREAD + 2 * SPREAD * random()));
    const known = adaptive(durationMs, shape, seenMs.slice(-MAX_DURATIONS), random);
    if (known.seenMs !== undefined) seenMs.push(known.seenMs);
    if (index < 0) continue;
    watches.known.push(known);
    watches.unknown.push(adaptive(durationMs, shape, [], random));
    watches.fixed.push(fixed(durationMs));
  }
  return watches;
}

export const together = (all: readonly Watches[]): Watches => ({
  known: all.flatMap(({ known }) => known),
  unknown: all.flatMap(({ unknown }) => unknown),
  fixed: all.flatMap((watches) => watches.fixed),
});

/** Returns the exports of each shape by their lengths, from all seeds. */
export function watchMix(seeds: readonly number[], count: number): { shape: string; byLength: Watches[] }[] {
  return Object.entries(shapes).map(([shape, of], at) => ({
    shape,
    byLength: LENGTHS_MS.map((aboutMs) =>
      together(
        seeds.map((seed) => watchDomain(aboutMs, of, count, numbers(seed * 1_000_003 + at * 1009 + aboutMs))),
      ),
    ),
  }));
}

/** Polls and lag, in mean and at the 95th percentile, and the longest gap between two polls. */
export interface Figures {
  polls: number;
  pollsP95: number;
  lagMs: number;
  lagP95Ms: number;
  gapMs: number;
}

export function figuresOf(watches: readonly Watch[]): Figures {
  const [polls, lags] = [watches.map((watch) => watch.polls), watches.map(({ lagMs }) => lagMs)];
  return {
    polls: mean(polls),
    pollsP95: quantile(polls, 0.95),
    lagMs: mean(lags),
    lagP95Ms: quantile(lags, 0.95),
    gapMs: Math.max(...watches.map(({ gapMs }) => gapMs)),
  };
}

const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length;

/** What adaptive polling may take of the polls and the lag of a fixed pause. */
const BOUNDS = {
  /** Every shape, in mean and at the 95th percentile. */
  known: 1,
  unknown: 1.2,
  /** All of them together, in mean. */
  mixPolls: 0.6,
  mixLag: 0.4,
  /** While progress can be shown, it is never older than this. */
  gapMs: defaultTiming.pollMaxMs,
};

/** Returns which bounds one shape breaks; `fixed` are the same exports at a fixed pause. */
export function broken(mode: 'known' | 'unknown', ours: Figures, fixed: Figures): string[] {
  const most = BOUNDS[mode];
  const fields = ['polls', 'pollsP95', 'lagMs', 'lagP95Ms'] as const;
  return [
    ...fields.filter((field) => !(ours[field] <= most * fixed[field])),
    ...(ours.gapMs <= BOUNDS.gapMs ? [] : ['gapMs']),
  ];
}

/** Returns which bounds all shapes together break. */
export const brokenMix = (ours: Figures, fixed: Figures): string[] => [
  ...(ours.polls <= BOUNDS.mixPolls * fixed.polls ? [] : ['polls']),
  ...(ours.lagMs <= BOUNDS.mixLag * fixed.lagMs ? [] : ['lagMs']),
];

/** Returns numbers from 0 to 1 that look random and are the same for the same seed. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
