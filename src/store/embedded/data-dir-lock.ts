import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirUnusable } from './data-dir.ts';

/** Another Docket keeps its data in this folder. */
export class DataDirInUse extends Error {
  override name = 'DataDirInUse';
  constructor(dataDir: string) {
    super(
      `Another Docket is running on the data folder ${dataDir}. ` +
        'Stop it first, or give this one a DATA_DIR of its own.',
    );
  }
}

/** SQLite's result codes SQLITE_BUSY and SQLITE_LOCKED. */
const BUSY_CODES = [5, 6];

/**
 * Makes this process the only one that works on `folder`, or throws `DataDirInUse`. Two that start at the same
 * instant may each see the other, so a refusal is final only after `patienceMs`. Returns what releases the lock.
 * Throws `DataDirUnusable` where there can be no lock.
 *
 * SQLite's lock is the operating system's own lock on an open file: the kernel drops it with the process, also
 * after kill -9, keeps it while the process is frozen, and knows neither process numbers nor left-over files.
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
