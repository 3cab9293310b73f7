import { setFlagsFromString } from 'node:v8';

// On a machine with gigabytes of memory, V8 lets the heap grow to four times its live data. A lower limit costs a few
// percent of CPU time under load. Loading modules must not leave a large space for new objects behind.
setFlagsFromString('--heap-growing-percent=60');
setFlagsFromString('--semi-space-growth-factor=1');

/** Lets the space for new objects grow with the load, after the start. */
export const allowGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=2');
