import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, statfsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Has all that a run leaves behind ended and removed once the run is over, also when it is interrupted or killed:
 * another process does it (`leftovers/reaper.ts`) when its pipe to this one closes.
 */
export default function setup() {
  // A socket's path must be short, and the usual temporary folder of macOS has a long one.
  const temporary = process.platform === 'darwin' ? '/tmp' : tmpdir();
  const folder = realpathSync(mkdtempSync(join(temporary, 'docket-run-')));
  // As the usual temporary folder: some tests run programs as another user.
  chmodSync(folder, 0o1777);
  const children = join(folder, 'children');
  mkdirSync(children);
  const data = mkdtempSync(join(inMemory(), 'docket-data-'));
  // Detached, so that Ctrl-C does not reach it; and before the marks, which would have it end itself.
  const reaper = spawn(
    process.execPath,
    [join(import.meta.dirname, 'leftovers/reaper.ts'), folder, data, children],
    { detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  reaper.unref();
  (reaper.stdin as Socket).unref();

  // What tests start needs half as long.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/docket/compiled');
  process.env.TEST_CHILDREN = children;
  process.env.TEST_DATA = data;
  process.env.TMPDIR = folder;
  // A mark on every process: what a test gives an environment of its own gets this, too.
  process.env.PATH += `:${folder}`;
}

/** What the files of all Redis together take, with much to spare. */
const ROOM_BYTES = 512 * 1024 * 1024;

/**
 * Where Redis writes its files. It waits for the disk at every write, which outlives a process that is killed in
 * memory as well, and takes a tenth of the time.
 */
function inMemory(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= ROOM_BYTES ? memory : tmpdir();
}
