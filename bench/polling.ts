import {
  broken,
  brokenMix,
  type Figures,
  figuresOf,
  LENGTHS_MS,
  together,
  type Watches,
  watchMix,
} from '../test/support/jobs/export/polling.ts';
import { curves, savePlot } from './parts/plot.ts';
import { seconds } from './parts/table.ts';

/**
 * Polls and lag of adaptive polling against a poll every 10 s, in simulated time, over exports of 20 s to 30 minutes: with
 * what the last 20 exports of each domain took, which lie within a fifth of its own, and without. `--seeds 20`: so many.
 */
const COUNT = 20;
const at = process.argv.indexOf('--seeds');
const seedCount = at < 0 ? 10 : Number(process.argv[at + 1]);
if (!Number.isInteger(seedCount) || seedCount < 1) throw new Error('--seeds takes a whole number');

const WIDTHS = [22, 11, 14, 12, 15, 15, 13, 20];
const row = (...cells: string[]) =>
  console.log(
    cells
      .map((cell, at) => (at < 2 || at === 7 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0)))
      .join('')
      .trimEnd(),
  );

const ratio = (ours: number, theirs: number) => `(${(ours / theirs).toFixed(2)})`;

function print(name: string, mode: string, ours: Figures, fixed: Figures, wrong?: readonly string[]): void {
  row(
    name,
    mode,
    `${ours.polls.toFixed(1)} ${ratio(ours.polls, fixed.polls)}`,
    `${ours.pollsP95} ${ratio(ours.pollsP95, fixed.pollsP95)}`,
    `${seconds(ours.lagMs)} ${ratio(ours.lagMs, fixed.lagMs)}`,
    `${seconds(ours.lagP95Ms)} ${ratio(ours.lagP95Ms, fixed.lagP95Ms)}`,
    seconds(ours.gapMs),
    wrong === undefined ? '' : wrong.length === 0 ? '  ok' : `  BROKEN: ${wrong.join(', ')}`,
  );
  if (wrong !== undefined && wrong.length > 0) process.exitCode = 1;
}

function printAll(name: string, watches: Watches, isHeld: boolean): void {
  const [known, unknown, fixed] = [watches.known, watches.unknown, watches.fixed].map(figuresOf) as [
    Figures,
    Figures,
    Figures,
  ];
  print(name, 'known', known, fixed, isHeld ? broken('known', known, fixed) : undefined);
  print(name, 'unknown', unknown, fixed, isHeld ? broken('unknown', unknown, fixed) : undefined);
  print(name, 'every 10 s', fixed, fixed);
}

const mix = watchMix(
  Array.from({ length: seedCount }, (_, index) => index + 1),
  COUNT,
);
row('progress', 'durations', 'polls, mean', 'p95', 'lag, mean', 'p95', 'longest gap');
for (const { shape, byLength } of mix) printAll(shape, together(byLength), true);

const all = together(mix.flatMap(({ byLength }) => byLength));
const [known, fixed] = [figuresOf(all.known), figuresOf(all.fixed)];
print('all', 'known', known, fixed, brokenMix(known, fixed));
print('all', 'unknown', figuresOf(all.unknown), fixed);
const lags = (watches: typeof all.known) => watches.map(({ lagMs }) => lagMs / 1000);
const series = { Docket: lags(all.known), 'every 10 s': lags(all.fixed) };
savePlot('polling', curves({ title: 'From the end of an export to its poll', unit: 's', series }));

console.log('\nBy length, without bounds of their own:\n');
for (const { shape, byLength } of mix)
  for (const [index, watches] of byLength.entries())
    printAll(`${shape} ${(LENGTHS_MS[index] ?? 0) / 1000} s`, watches, false);
