import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Entry {
  resolved?: string;
  integrity?: string;
  optional?: boolean;
}

const lockFile = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const packages: [string, Entry][] = Object.entries(lockFile.packages);
const entries = packages.filter(([path]) => path !== '');

/** Builds for systems that the lock file was never written on: npm knows of them by name only. */
const BUILDS_ELSEWHERE =
  /^node_modules\/(?:@biomejs\/cli|@oxc-parser\/binding|@msgpackr-extract\/msgpackr-extract)-/;

test('every package of the lock file is held to what it held when it was chosen', () => {
  const loose = entries.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
  const unexpected = loose.filter(([path, { optional }]) => !(optional && BUILDS_ELSEWHERE.test(path)));
  expect(unexpected.map(([path]) => path)).toEqual([]);
  // 64-bit Linux is what CI and the image run on.
  const onLinux = loose.filter(([path]) => /linux-(?:x64|arm64)(?:-gnu)?$/.test(path));
  expect(onLinux.map(([path]) => path)).toEqual([]);
});

test('the lock file names no host, so that everybody installs from their own registry', () => {
  expect(entries.length).toBeGreaterThan(200);
  expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
});
