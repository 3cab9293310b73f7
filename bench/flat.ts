import { parseArgs } from 'node:util';
import { canMoveClocks } from '../test/support/faketime.ts';
import { runFlat } from './parts/flat.ts';
import { countRows, memoryRows } from './parts/flat-verdict.ts';
import { printTable } from './parts/table.ts';

/**
 * What a process and Redis hold while exports and threads come and go and months pass: once the oldest of what is kept
 * goes as the newest comes, it stays the same. The last third of the batches is compared with the second.
 */
const { values } = parseArgs({
  options: {
    exports: { type: 'string', default: '10000' },
    threads: { type: 'string', default: '2000' },
    batches: { type: 'string', default: '15' },
    /** Between two batches. The audit log is kept longest, for 90: it is full before the second third. */
    days: { type: 'string', default: '20' },
    /** What Docket is made to leave behind for each export, to see it noticed: memory, keys or files. */
    leak: { type: 'string' },
  },
});
if (!canMoveClocks) throw new Error('libfaketime is not here and cannot be fetched');
const [exports, threads, batches, daysOfBatch] = [
  Number(values.exports),
  Number(values.threads),
  Number(values.batches),
  Number(values.days),
];

console.log(
  `${exports} exports and ${threads} threads in ${batches} batches, ${daysOfBatch} days apart${values.leak ? `; leaves ${values.leak} behind` : ''}.\n`,
);
const total = (families: Map<string, { keys: number }>) =>
  [...families.values()].reduce((sum, { keys }) => sum + keys, 0);
let number = 0;
const samples = await runFlat({ exports, threads, batches, daysOfBatch, leak: values.leak }, (sample) => {
  number += 1;
  const { heapMb, processMb, files, redisMb, families, seconds } = sample;
  console.log(
    `batch ${number} (${seconds.toFixed(0)} s): heap ${heapMb.toFixed(1)} MB, process ${processMb.toFixed(0)} MB, ${files} files, Redis ${redisMb.toFixed(2)} MB in ${total(families)} keys`,
  );
});

console.log('\nfrom the second third to the last; of keys and entries the most, else medians:');
printTable([...memoryRows(samples), ...countRows(samples, Math.ceil(exports / batches))]);
