import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../runtime/log.ts';
import { OperatorError } from '../../runtime/operator-error.ts';
import type { ServerPlace } from './redis-server.ts';

/** A socket's path holds 108 bytes with the final zero, on macOS 104. */
const MAX_SOCKET_BYTES = process.platform === 'darwin' ? 103 : 107;

/** Creates the folder, closed to other users. Throws `OperatorError` if it cannot be used. */
export function prepareDataDir(dataDir: string): ServerPlace {
  const given = resolve(dataDir);
  const folder = withDataDirErrors(given, () => {
    mkdirSync(given, { recursive: true, mode: 0o700 });
    // A subfolder, since we may not be allowed to change the permissions of DATA_DIR itself.
    const own = join(realpathSync(given), 'redis');
    mkdirSync(own, { recursive: true });
    accessSync(own, constants.R_OK | constants.W_OK | constants.X_OK);
    if ((statSync(own).mode & 0o777) !== 0o700) chmodSync(own, 0o700);
    return own;
  });
  const socketPath = join(folder, 'redis.sock');
  if (Buffer.byteLength(socketPath) > MAX_SOCKET_BYTES)
    throw new OperatorError(
      `The path of DATA_DIR is too long for a socket: ${socketPath} has more than ${MAX_SOCKET_BYTES} bytes. Set a shorter one.`,
    );
  return { folder, socketPath, pidFile: join(folder, 'redis.pid'), logFile: join(folder, 'redis.log') };
}

/** Throws `OperatorError` if the folder exists, and is not writable. Changes nothing. */
export function inspectDataDir(dataDir: string): void {
  const given = resolve(dataDir);
  const writable = constants.W_OK | constants.X_OK;
  if (existsSync(given)) withDataDirErrors(given, () => accessSync(`${given}/.`, writable));
}

/** With less free space than this, a disk counts as full: Redis exits if it cannot write. */
const MIN_FREE_BYTES = 1_000_000;

const DISK_FULL =
  'the disk of DATA_DIR is full, so nothing can be saved. Free some space: Redis then resumes by itself';

/**
 * Returns a function that returns the problem of a full disk, and logs it once while it lasts: on a full disk Redis
 * exits at each write, and cannot log why.
 */
export function watchDiskSpace(folder: string, log: Pick<Log, 'error'>): () => string | undefined {
  let wasFull = false;
  return () => {
    const { bavail, bsize } = statfsSync(folder);
    const isFull = bavail * bsize < MIN_FREE_BYTES;
    if (isFull && !wasFull) log.error({ problem: 'disk', folder }, DISK_FULL);
    wasFull = isFull;
    return isFull ? DISK_FULL : undefined;
  };
}

function withDataDirErrors<T>(dataDir: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const { code, path = dataDir } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `DATA_DIR ${dataDir} cannot be used (${code} at ${path}). Set it to a folder on a disk of this machine that Docket's ` +
        `user (uid ${process.getuid?.()}) owns; docs/troubleshooting.md says what the code means.`,
      { cause: error },
    );
  }
}

/** SQLite's result codes SQLITE_BUSY and SQLITE_LOCKED. */
const BUSY_CODES = [5, 6];

/**
 * Locks `folder` for this process. Returns a function that releases the lock. Throws `OperatorError` if the disk has no
 * locks, or if another process still holds it after `timeoutMs`.
 *
 * SQLite's lock is the operating system's lock on an open file: the kernel drops it with the process, even after kill
 * -9, and keeps it while the process is frozen. No process id or leftover file can make it stale.
 */
export function lockDataDir(folder: string, dataDir: string, timeoutMs: number): () => void {
  const file = join(folder, 'docket.lock');
  const database = new DatabaseSync(file, { timeout: timeoutMs, open: false });
  try {
    database.open();
    // Nothing is ever written: the open transaction is the lock.
    database.exec('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    if (database.isOpen) database.close();
    if (!(error instanceof Error && 'errcode' in error)) throw error;
    throw new OperatorError(
      BUSY_CODES.includes(Number(error.errcode))
        ? `Another Docket is running on the data folder ${dataDir}. Stop it first, or give this one its own DATA_DIR.`
        : `${file} cannot be locked (${error.message}). Set DATA_DIR to a folder on a disk of this machine.`,
    );
  }
}
