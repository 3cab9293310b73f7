import {
  adaptive,
  around,
  fixed,
  numbers,
  type Shape,
  shapes,
  type Watch,
} from '../test/support/jobs/export/polling.ts';
import { median } from './parts/figures.ts';
import { seconds } from './parts/table.ts';

/** Polls and lag of adaptive polling against a poll every 10 s, in simulated time. Medians of 201 exports each. */
const MINUTES = [1, 2, 6, 40];
/** Where both figures must be no worse: exports that report their progress and are not very short. */
const HELD_FROM_MINUTES = 2;
const HELD_SHAPES = ['linear', 'percent'];

const row = (...cells: string[]) =>
  console.log(cells.map((cell, index) => (index ? cell.padStart(16) : cell.padEnd(12))).join(''));

row('progress', 'length', 'polls', 'every 10 s', 'lag', 'every 10 s', '');
for (const [name, shape] of Object.entries<Shape>(shapes)) {
  for (const minutes of MINUTES) {
    const random = numbers();
    const durations = around(minutes * 60_000);
    const ours = durations.map((durationMs) => adaptive(durationMs, shape, random));
    const theirs = durations.map(fixed);
    const of = (watches: Watch[], field: keyof Watch) => median(watches.map((watch) => watch[field]));
    const better = of(ours, 'polls') <= of(theirs, 'polls') && of(ours, 'lagMs') < of(theirs, 'lagMs');
    const held = HELD_SHAPES.includes(name) && minutes >= HELD_FROM_MINUTES;
    if (held && !better) process.exitCode = 1;
    row(
      name,
      `${minutes} min`,
      String(of(ours, 'polls')),
      String(of(theirs, 'polls')),
      seconds(of(ours, 'lagMs')),
      seconds(of(theirs, 'lagMs')),
      better ? 'ok' : held ? 'BROKEN' : '',
    );
  }
}
