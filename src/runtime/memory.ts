import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 collect when the heap is 60 percent larger than what is alive: where a machine has gigabytes, it would wait for
 * the fourfold. That costs a few percent of the processor's time under load. The flag is read at each collection.
 */
export const growHeapSlowly = (): void => setFlagsFromString('--heap-growing-percent=60');
