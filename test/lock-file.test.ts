import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Entry {
  link?: boolean;
  resolved?: string;
  integrity?: string;
}

const lockFile = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const packages: [string, Entry][] = Object.entries(lockFile.packages);
/** Without Docket and the demo, which are in the checkout. */
const entries = packages.filter(([path, { link }]) => path.startsWith('node_modules/') && !link);

test('every package of the lock file is held to what it held when it was chosen', () => {
  const loose = entries.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
  expect(loose.map(([path]) => path)).toEqual([]);
});

test('the lock file names no host, so that everybody installs from their own registry', () => {
  expect(entries.length).toBeGreaterThan(200);
  expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
});
