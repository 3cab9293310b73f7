import { setFlagsFromString } from 'node:v8';
import packageJson from '../../package.json' with { type: 'json' };

// Imported first: under an older Node, other modules would fail with errors that name no fix.
const majorOf = (text: string) => Number(/\d+/.exec(text)?.[0]);
const oldest = majorOf(packageJson.engines.node);
if (majorOf(process.version) < oldest) {
  console.error(
    `Docket needs Node ${oldest} or newer; this is ${process.version}. Install Node ${oldest} from https://nodejs.org or with your version manager (nvm install ${oldest}).`,
  );
  process.exit(1);
}

// On a machine with gigabytes, V8 would wait until the heap is four times as large as its live data. This costs a few
// percent of CPU time under load. The loading of modules must not leave a large space for new objects behind.
setFlagsFromString('--heap-growing-percent=60');
setFlagsFromString('--semi-space-growth-factor=1');

/** Lets the space for new objects grow with the load, after the start. */
export const allowGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=2');
