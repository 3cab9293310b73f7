import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './flows/world.ts';

/** Returns a folder on a disk of 8 MB, for the length of a test; undefined where this machine cannot have it. */
export function smallDisk(): string | undefined {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', path]);
  if (status !== 0) return undefined;
  onTestFinished(() => void execFileSync('umount', ['-l', path]));
  return path;
}

/** Fills a disk until there is no room. Returns the file to remove. */
export function fill(folder: string): string {
  const ballast = join(folder, 'ballast');
  spawnSync('dd', ['if=/dev/zero', `of=${ballast}`]);
  return ballast;
}
