import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { leftoverPid } from './redis-server.ts';

/** In DATA_DIR: the folder that Redis works in, and one that a restore is about to put in its place. */
const CURRENT = 'redis';
const RESTORED = 'redis.restored';

/** In DATA_DIR: what the folder in which a restore works begins with; six letters or digits follow. */
export const WORK_PREFIX = 'redis.restoring-';
const WORK = /^redis\.restoring-\w{6}$/;

/** Puts a loaded backup in the place of the folder that Redis works in, which is moved. What fails is undone. */
export function replaceFolder(dataDir: string, loaded: string, movedTo: string): void {
  const current = join(dataDir, CURRENT);
  renameSync(loaded, join(dataDir, RESTORED));
  renameSync(current, movedTo);
  try {
    finishRestore(dataDir);
  } catch (error) {
    renameSync(movedTo, current);
    throw error;
  }
}

/** Finishes a restore that had moved the data away when it was killed: without them, Docket would start empty. */
export function finishRestore(dataDir: string): void {
  if (isRestoreUnfinished(dataDir)) renameSync(join(dataDir, RESTORED), join(dataDir, CURRENT));
}

export const isRestoreUnfinished = (dataDir: string): boolean =>
  !existsSync(join(dataDir, CURRENT)) && existsSync(join(dataDir, RESTORED));

/** Removes what restores left behind that were killed before they moved anything. Needs the lock on the folder of Redis. */
export function removeUnfinishedRestores(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter((entry) => entry === RESTORED || WORK.test(entry))) {
    const folder = join(dataDir, name);
    endServer(join(folder, CURRENT));
    try {
      // A server that was just killed may still make a file.
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // It is another user's. Nothing needs it to be gone.
    }
  }
}

/** What it has loaded goes, too, so it is not asked. */
function endServer(folder: string): void {
  const pid = leftoverPid({ folder, pidFile: join(folder, 'redis.pid') });
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
}
