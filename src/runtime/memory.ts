import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By how much of what is alive V8's old generation may grow before it is collected. */
const HEAP_GROWTH_PERCENT = 60;

/**
 * Has V8 collect before the heap is some multiple of what is alive: where a machine has gigabytes, it would wait for the
 * fourfold. That costs a few percent of the processor's time under load. The flag is read at each collection.
 */
export function growHeapSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
}

/**
 * Gives the memory back that only the start needed: a process that is idle would else keep about 35 MB of it. It takes
 * about 0.1 s, so it is done once, before the first requests are expected.
 */
export function releaseStartMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // The only kind of collection that also hands the pages of the young generation back.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
