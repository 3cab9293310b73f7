import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgetSharedMemory } from './flows/children.ts';

/** Ends and removes what failed tests left behind. Vitest stops its own workers too hard for them to do it. */
export default function setup() {
  const children = mkdtempSync(join(tmpdir(), 'docket-children-'));
  const data = mkdtempSync(join(inMemory(), 'docket-data-'));
  process.env.TEST_CHILDREN = children;
  process.env.TEST_DATA = data;
  return () => {
    for (const pid of [...readdirSync(children), ...workingIn(data)]) end(Number(pid));
    for (const folder of [children, data]) rmSync(folder, { recursive: true, force: true });
  };
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

/** The Redis of a bot that was killed lives on, by design. Returns those whose data are in this folder. */
function workingIn(folder: string): string[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(`${folder}/`);
    } catch {
      // It has just ended, or is another's.
      return false;
    }
  });
}

function end(pid: number) {
  forgetSharedMemory(pid);
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
