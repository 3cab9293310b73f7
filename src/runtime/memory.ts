import { setFlagsFromString } from 'node:v8';

/** By how much of what is alive V8's old generation may grow before it is collected. */
const HEAP_GROWTH_PERCENT = 60;

/**
 * Has V8 collect before the heap is some multiple of what is alive: where a machine has gigabytes, it would wait for the
 * fourfold. That costs a few percent of the processor's time under load. The flag is read at each collection.
 */
export function growHeapSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
}
