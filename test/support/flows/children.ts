import type { ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Has the child ended with the tests (`leftovers.ts`), also when the test that started it failed before it
 * could end it.
 */
export function endsWithTests<Child extends ChildProcess>(child: Child): Child {
  const folder = process.env.TEST_CHILDREN;
  if (folder === undefined || child.pid === undefined) return child;
  const note = join(folder, String(child.pid));
  writeFileSync(note, '');
  const { pid } = child;
  child.once('exit', () => {
    rmSync(note, { force: true });
    forgetSharedMemory(pid);
  });
  return child;
}

/** Removes what libfaketime leaves behind when its process is killed. */
export function forgetSharedMemory(pid: number) {
  for (const name of ['faketime_shm', 'sem.faketime_sem']) rmSync(`/dev/shm/${name}_${pid}`, { force: true });
}
