import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inspectDataDir, startEmbeddedRedis } from '../../src/store/embedded-redis.ts';

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

const log = { info() {}, warn() {}, error() {} };
const start = (folder: string) =>
  startEmbeddedRedis({ dataDir: folder, log, searchPath: process.env.PATH ?? '' });

test.skipIf(process.getuid?.() === 0)(
  'one that may not be written to is refused, and named before the start',
  async () => {
    mkdirSync(dataDir, { mode: 0o500 });
    await expect(start(dataDir)).rejects.toThrow(/\(EACCES at /);
    expect(() => inspectDataDir(dataDir)).toThrow(/\(EACCES at /);
  },
);

test('one that its lock cannot be in is refused', async () => {
  mkdirSync(join(dataDir, 'redis', 'docket.lock'), { recursive: true });
  await expect(start(dataDir)).rejects.toThrow(/docket\.lock cannot be locked \(/);
});

test('one whose path is too long for a socket is refused', async () => {
  await expect(start(join(dataDir, 'x'.repeat(100)))).rejects.toThrow(/too long for a socket/);
});
