import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inspectDataDir, lockDataDir, prepareDataDir } from '../../../src/store/embedded/redis-server.ts';

let base: string;
let dataDir: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'docket-data-')));
  dataDir = join(base, 'data');
});
afterEach(() => {
  chmodSync(base, 0o700);
  rmSync(base, { recursive: true });
});

test.skipIf(process.getuid?.() === 0)(
  'one that may not be written to is refused, and named before the start',
  () => {
    mkdirSync(dataDir, { mode: 0o500 });
    expect(() => prepareDataDir(dataDir)).toThrow(/\(EACCES at /);
    expect(() => inspectDataDir(dataDir)).toThrow(/\(EACCES at /);
  },
);

test('one that its lock cannot be in is refused', () => {
  const { folder } = prepareDataDir(dataDir);
  mkdirSync(join(folder, 'docket.lock'));
  expect(() => lockDataDir(folder, dataDir, 100)).toThrow(/docket\.lock cannot be locked \(/);
});

test('one whose path is too long for a socket is refused', () => {
  expect(() => prepareDataDir(join(dataDir, 'x'.repeat(100)))).toThrow(/too long for a socket/);
});
