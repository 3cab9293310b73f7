import { globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canFetch, Debs } from './debs.mjs';

/**
 * Returns the path of libfaketime, which gives a process another time than the machine's. When it is not installed, it
 * is fetched into the cache folder on Debian and Ubuntu. Returns undefined when it cannot be.
 */
export async function findFaketime(root) {
  const folder = join(root, 'node_modules', '.cache', 'docket');
  const target = join(folder, 'faketime');
  const found = libraryIn('/') ?? libraryIn(target);
  if (found !== undefined || !(await canFetch())) return found;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(`${target}-`);
  try {
    const debs = new Debs(work);
    if (!(await debs.add(['libfaketime']))) {
      await debs.update();
      if (!(await debs.add(['libfaketime']))) return undefined;
    }
    rmSync(debs.folder, { recursive: true });
    renameSync(debs.root, target);
  } catch (error) {
    // Somebody else fetched it in the same moment.
    if (libraryIn(target) === undefined) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return libraryIn(target);
}

/** `MT` is for programs with several threads, in which the other one may lock up. */
const libraryIn = (root) =>
  globSync(join(root, 'usr', '{lib,lib64}', '{*/,}faketime', 'libfaketimeMT.so.1')).at(0);
