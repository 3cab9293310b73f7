import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgetSharedMemory } from './flows/children.ts';

/** Ends what failed tests left running. Vitest stops its own workers too hard for them to do it. */
export default function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'docket-children-'));
  process.env.TEST_CHILDREN = folder;
  return () => {
    for (const pid of readdirSync(folder)) end(Number(pid));
    rmSync(folder, { recursive: true, force: true });
  };
}

function end(pid: number) {
  forgetSharedMemory(pid);
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
