import { setFlagsFromString } from 'node:v8';

// On a machine with gigabytes, V8 would wait until the heap is four times as large as its live data. This costs a few
// percent of CPU time under load. The loading of modules must not leave a large space for new objects behind.
setFlagsFromString('--heap-growing-percent=60');
setFlagsFromString('--semi-space-growth-factor=1');

/** Lets the space for new objects grow with the load, after the start. */
export const allowGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=2');
