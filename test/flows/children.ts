import type { ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Has the child ended with the tests (`test/leftovers.ts`), also when the test that started it failed before it
 * could end it.
 */
export function endsWithTests<Child extends ChildProcess>(child: Child): Child {
  const folder = process.env.TEST_CHILDREN;
  if (folder === undefined || child.pid === undefined) return child;
  const note = join(folder, String(child.pid));
  writeFileSync(note, '');
  const left = [note, ...sharedMemory.map((name) => `${name}_${child.pid}`)];
  child.once('exit', () => {
    for (const file of left) rmSync(file, { force: true });
  });
  return child;
}

/** What libfaketime leaves behind when its process is killed, each with the process id at its end. */
const sharedMemory = ['/dev/shm/faketime_shm', '/dev/shm/sem.faketime_sem'];
