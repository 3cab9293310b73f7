import { growHeapSlowly } from '../../../src/runtime/memory.ts';

// Prints how large the heap gets, in bytes, while entries of a map take the place of older ones.
const ENTRIES = 150_000;
const REPLACED = 20;
const LOOK_EVERY = 5000;

if (process.argv[2] === 'slowly') growHeapSlowly();
const entries = new Map<number, unknown>();
let most = 0;
for (let n = 0; n < ENTRIES * REPLACED; n += 1) {
  entries.set(n % ENTRIES, { text: `entry ${n}`, list: [n] });
  if (n % LOOK_EVERY === 0) most = Math.max(most, process.memoryUsage().heapTotal);
}
console.log(most);
