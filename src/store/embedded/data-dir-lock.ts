import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirUnusable } from './data-dir.ts';

/** Another Docket is running on this data folder. */
export class DataDirInUse extends Error {
  override name = 'DataDirInUse';
  constructor(dataDir: string) {
    super(
      `Another Docket is running on the data folder ${dataDir}. ` +
        'Stop it first, or give this one its own DATA_DIR.',
    );
  }
}

/** SQLite's result codes SQLITE_BUSY and SQLITE_LOCKED. */
const BUSY_CODES = [5, 6];

/**
 * Locks `folder` for this process. Returns a function that releases the lock. Throws `DataDirInUse` if another process
 * still holds it after `timeoutMs`: two that start at the same instant may each see the other's lock for a moment.
 * Throws `DataDirUnusable` if the disk has no locks.
 *
 * SQLite's lock is the operating system's lock on an open file: the kernel drops it with the process, even after kill
 * -9, and keeps it while the process is frozen. No process id or leftover file can make it stale.
 */
export async function lockDataDir(folder: string, dataDir: string, timeoutMs: number): Promise<() => void> {
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const release = tryLock(join(folder, 'docket.lock'));
    if (release) return release;
    if (performance.now() >= endsAt) throw new DataDirInUse(dataDir);
    await sleep(10 + Math.random() * 40);
  }
}

function tryLock(file: string): (() => void) | undefined {
  const database = new DatabaseSync(file, { timeout: 0, open: false });
  try {
    database.open();
    // Nothing is ever written: the open transaction is the lock.
    database.exec('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    if (database.isOpen) database.close();
    if (!(error instanceof Error && 'errcode' in error)) throw error;
    if (BUSY_CODES.includes(Number(error.errcode))) return undefined;
    throw new DataDirUnusable(
      `${file} cannot be locked (${error.message}). Set DATA_DIR to a folder on a disk of this machine.`,
    );
  }
}
