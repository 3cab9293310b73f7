import { nextPollMs } from '../src/jobs/engine/polling.ts';
import { defaultTiming } from '../src/runtime/timing.ts';
import { printTable } from './parts/table.ts';

/**
 * How often an export is polled, and how long after its end Docket learns of it, against a poll each 10 s. No process
 * runs: the pauses are those of the code, over durations and shapes of progress that platforms may report.
 */
const MOST_POLLS = 0.7;
const MOST_LAG = 0.5;
const FIXED_MS = 10_000;
const MINUTES = [1 / 3, 1, 2, 5, 10, 30];
/** Exports of each shape and duration; they take up to a tenth more or less. */
const RUNS = 200;

/** The reported progress (0 to 1) after a part of the duration. */
const SHAPES: Record<string, (part: number) => number | undefined> = {
  'at an even pace': (part) => part,
  'in percent': (part) => Math.floor(part * 100) / 100,
  'in tenths': (part) => Math.floor(part * 10) / 10,
  'in quarters': (part) => Math.floor(part * 4) / 4,
  'to 99 %, then still': (part) => Math.min(part / 0.7, 0.99),
  'no progress': () => undefined,
};

type Pause = (atMs: number, fraction: number | undefined, movedAtMs: number) => number;

/** Returns the polls of one export, and the milliseconds from its end to the poll that shows it. */
function poll(durationMs: number, shape: (part: number) => number | undefined, pause: Pause) {
  let [atMs, polls, movedAtMs] = [0, 0, 0];
  let fraction: number | undefined;
  while (atMs < durationMs) {
    atMs += pause(atMs, fraction, movedAtMs);
    polls += 1;
    const next = shape(Math.min(1, atMs / durationMs));
    if (next !== fraction) movedAtMs = atMs;
    fraction = next;
  }
  return { polls, lagMs: atMs - durationMs };
}

const rows = [];
const sums = { polls: 0, lagMs: 0, fixedPolls: 0, fixedLagMs: 0 };
for (const [name, shape] of Object.entries(SHAPES)) {
  const sum = { polls: 0, lagMs: 0, fixedPolls: 0, fixedLagMs: 0 };
  for (const minutes of MINUTES)
    for (let run = 0; run < RUNS; run += 1) {
      // Evenly spread instead of random, so that each run prints the same.
      const part = (run + 0.5) / RUNS;
      const durationMs = minutes * 60_000 * (0.9 + part * 0.2);
      const ours = poll(durationMs, shape, (atMs, fraction, movedAtMs) =>
        nextPollMs({ startedAtMs: 0, fraction, movedAtMs }, atMs, defaultTiming, (part * 7.3) % 1),
      );
      const fixed = poll(durationMs, shape, () => FIXED_MS);
      sum.polls += ours.polls;
      sum.lagMs += ours.lagMs;
      sum.fixedPolls += fixed.polls;
      sum.fixedLagMs += fixed.lagMs;
    }
  for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += sum[key];
  rows.push({ what: `${name}: polls, lag`, figure: ratios(sum) });
}
const [polls, lag] = [sums.polls / sums.fixedPolls, sums.lagMs / sums.fixedLagMs];
printTable([
  ...rows,
  {
    what: `all: polls (≤ ${MOST_POLLS} of those each 10 s)`,
    figure: polls.toFixed(2),
    held: polls <= MOST_POLLS,
  },
  { what: `all: lag (≤ ${MOST_LAG} of that each 10 s)`, figure: lag.toFixed(2), held: lag <= MOST_LAG },
]);

function ratios({ polls, lagMs, fixedPolls, fixedLagMs }: typeof sums): string {
  return `${(polls / fixedPolls).toFixed(2)}, ${(lagMs / fixedLagMs).toFixed(2)}`;
}
