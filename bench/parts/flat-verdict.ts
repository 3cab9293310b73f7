import { median } from './figures.ts';
import type { Sample } from './flat.ts';
import { EVENTS } from './key-families.ts';
import type { Row } from './table.ts';

/** A figure in the second third of the batches and in the last. */
interface Thirds {
  before: number;
  after: number;
}

const MOST_GROWTH = 1.1;
/** Of the heap, whose figure after a collection hardly varies: some hundred bytes for each export and thread. */
const MORE_HEAP_MB = 1;
/** Connections that wait to be used again come and go. */
const MORE_FILES = 10;
/** Of a queue, where BullMQ cuts its list. */
const MOST_EVENTS = 11_000;

const tenth = (before: number) => before * MOST_GROWTH;
/** Of few keys, some more are no growth. */
const nearly = (before: number) => Math.max(tenth(before), before + 3);

/** Returns whether memory stayed the same from the second third of the batches to the last. */
export const memoryRows = (samples: readonly Sample[]): Row[] => [
  row(
    `heap after a collection, MB (≤ ${MORE_HEAP_MB} more)`,
    thirdsOf(samples, ({ heapMb }) => heapMb),
    (before) => before + MORE_HEAP_MB,
    2,
  ),
  row(
    'memory of the process, MB (≤ 1.1 times)',
    thirdsOf(samples, ({ processMb }) => processMb),
    tenth,
  ),
  row(
    'memory of Redis, MB (≤ 1.1 times)',
    thirdsOf(samples, ({ redisMb }) => redisMb),
    tenth,
    2,
  ),
];

/**
 * The same of open files and of what Redis holds, by families of keys. Each of `batchExports` counts toward a quota of its
 * person and one of its channel; those that have ended leave them when the next one of either is started.
 */
export const countRows = (samples: readonly Sample[], batchExports: number): Row[] => [
  row(
    `open files (≤ ${MORE_FILES} more)`,
    thirdsOf(samples, ({ files }) => files),
    (before) => before + MORE_FILES,
  ),
  ...familiesOf(samples).flatMap((family) => {
    const part = (name: 'keys' | 'entries') =>
      thirdsOf(samples, ({ families }) => families.get(family)?.[name] ?? 0, greatest);
    const most = mostEntries(family, batchExports);
    return [
      row(`keys of ${family} (≤ 1.1 times)`, part('keys'), nearly),
      most === undefined
        ? row(`entries in ${family} (≤ 1.1 times)`, part('entries'), nearly)
        : row(`entries in ${family} (≤ ${most})`, part('entries'), () => most),
    ];
  }),
];

function mostEntries(family: string, batchExports: number): number | undefined {
  if (family.endsWith(EVENTS)) return MOST_EVENTS;
  return family === 'quota' ? 2 * batchExports : undefined;
}

const familiesOf = (samples: readonly Sample[]) =>
  [...new Set(samples.flatMap(({ families }) => [...families.keys()]))].sort();

/** Of what comes and goes with the people and channels of a batch: they take turns, and each third has all of them. */
const greatest = (figures: readonly number[]) => Math.max(...figures);

function thirdsOf(
  samples: readonly Sample[],
  figure: (sample: Sample) => number,
  ofThird: (figures: number[]) => number = median,
): Thirds {
  const part = (from: number) =>
    ofThird(samples.slice((samples.length * from) / 3, (samples.length * (from + 1)) / 3).map(figure));
  return { before: part(1), after: part(2) };
}

const row = (what: string, { before, after }: Thirds, most: (before: number) => number, digits = 0): Row => ({
  what,
  figure: `${before.toFixed(digits)} → ${after.toFixed(digits)}`,
  held: after <= most(before),
});
