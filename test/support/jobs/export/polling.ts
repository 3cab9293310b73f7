import { MAX_SNAPSHOTS, type Snapshot } from '../../../../src/jobs/poll-record.ts';
import { nextPollMs } from '../../../../src/jobs/polling.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';

/** How an export job was polled from its start to the poll that found it ended. */
export interface Watch {
  polls: number;
  /** From the end of the job to the poll that finds it ended. */
  lagMs: number;
}

/** What a platform reports of the progress when `done` (0 to 1) is done. */
export type Shape = (done: number) => number | undefined;

export const shapes = {
  linear: (done) => done,
  percent: (done) => Math.floor(done * 100) / 100,
  'ten steps': (done) => Math.floor(done * 10) / 10,
  'four steps': (done) => Math.floor(done * 4) / 4,
  none: () => undefined,
} satisfies Record<string, Shape>;

/** As the job does it: the start is answered with a first poll, the next one comes at once. */
export function adaptive(durationMs: number, shape: Shape, random: () => number): Watch {
  const seen: Snapshot[] = [];
  const pollAt = (atMs: number) => {
    const fraction = shape(Math.min(1, atMs / durationMs));
    seen.push({ atMs, ...(fraction !== undefined && { fraction }) });
  };
  pollAt(0);
  let polls = 0;
  let nowMs = 0;
  for (;;) {
    polls += 1;
    if (nowMs >= durationMs) return { polls, lagMs: nowMs - durationMs };
    pollAt(nowMs);
    nowMs += nextPollMs(seen.slice(-MAX_SNAPSHOTS), 0, nowMs, defaultTiming, random());
  }
}

/** A poll every 10 s, whatever was seen. */
export function fixed(durationMs: number): Watch {
  const polls = Math.ceil(durationMs / 10_000);
  return { polls, lagMs: polls * 10_000 - durationMs };
}

/** Durations around one, so that neither way is lucky with the very instant of the end. */
export const around = (aboutMs: number) =>
  Array.from({ length: 201 }, (_, index) => Math.round(aboutMs * (0.9 + index / 1000)));

/** Numbers from 0 to 1 that look random and are the same in every run. */
export function numbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
