import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OperatorError } from '../../../src/runtime/operator-error.ts';
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

const unusable: [string, RegExp, () => void][] = [
  ['a file', /\((?:EEXIST|ENOTDIR) at /, () => writeFileSync(dataDir, '')],
  ['a link that leads nowhere', /\(E[A-Z]+ at /, () => symlinkSync(join(base, 'nowhere'), dataDir)],
];

test.each(unusable)('a DATA_DIR that is %s is refused with the fix', (_, code, make) => {
  make();
  expect(() => prepareDataDir(dataDir)).toThrow(OperatorError);
  expect(() => prepareDataDir(dataDir)).toThrow(code);
  expect(() => prepareDataDir(dataDir)).toThrow(`DATA_DIR ${dataDir} cannot be used`);
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

test('looking at one makes nothing', () => {
  inspectDataDir(dataDir);
  expect(existsSync(dataDir)).toBe(false);
});

test('one whose path is too long for a socket is refused', () => {
  expect(() => prepareDataDir(join(dataDir, 'x'.repeat(100)))).toThrow(/too long for a socket/);
});
