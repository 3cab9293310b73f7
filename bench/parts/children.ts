import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Has a process end with this one. */
export function endsWithBench(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}
