import { hash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ServerLog, ServerPlace } from './redis-server.ts';

/** The data folder cannot be used; the message tells the operator what to do. */
export class DataDirUnusable extends Error {
  override name = 'DataDirUnusable';
}

/** A socket's path holds 108 bytes with the final zero, on macOS 104. */
const MAX_SOCKET_BYTES = process.platform === 'darwin' ? 103 : 107;

/**
 * Creates the folder, closed to other users, and finds a short enough socket path. Throws `DataDirUnusable` if the
 * folder cannot be used.
 */
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
  return {
    folder,
    socketPath: prepareSocketPath(folder),
    pidFile: join(folder, 'redis.pid'),
    logFile: join(folder, 'redis.log'),
  };
}

/**
 * Returns the path of the socket of a Redis in this folder, or undefined if the folder does not exist yet. Changes
 * nothing. Throws `DataDirUnusable` if the folder, or its parent if it is missing, is not writable.
 */
export function inspectDataDir(dataDir: string): string | undefined {
  const given = resolve(dataDir);
  return withDataDirErrors(given, () => {
    const own = join(given, 'redis');
    const nearest = nearestThatExists(own);
    if (!statSync(nearest).isDirectory())
      throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR', path: nearest });
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return nearest === own ? socketPathOf(realpathSync(own)) : undefined;
  });
}

/** With less free space than this, a disk counts as full: Redis exits if it cannot write. */
const MIN_FREE_BYTES = 1_000_000;

const DISK_FULL =
  'the disk of DATA_DIR is full, so nothing can be saved. Free some space: Redis then resumes by itself';

/**
 * Returns a function that returns the problem of a full disk, and logs it once while it lasts: on a full disk Redis
 * exits at each write, and cannot log why.
 */
export function watchDiskSpace(folder: string, log: ServerLog): () => string | undefined {
  let wasFull = false;
  return () => {
    const { bavail, bsize } = statfsSync(folder);
    const isFull = bavail * bsize < MIN_FREE_BYTES;
    if (isFull && !wasFull) log.error({ problem: 'disk', folder }, DISK_FULL);
    wasFull = isFull;
    return isFull ? DISK_FULL : undefined;
  };
}

function nearestThatExists(path: string): string {
  const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return exists || path === dirname(path) ? path : nearestThatExists(dirname(path));
}

function withDataDirErrors<T>(dataDir: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const { code, path = dataDir } = error as NodeJS.ErrnoException;
    throw new DataDirUnusable(
      `DATA_DIR ${dataDir} cannot be used (${code} at ${path}). Set it to a folder on a disk of this machine that Docket's ` +
        `user (uid ${process.getuid?.()}) owns; docs/troubleshooting.md says what the code means.`,
      { cause: error },
    );
  }
}

function socketPathOf(folder: string): string {
  const inside = join(folder, 'redis.sock');
  if (Buffer.byteLength(inside) <= MAX_SOCKET_BYTES) return inside;
  const name = hash('sha256', folder).slice(0, 16);
  return join(tmpdir(), `docket-${name}`, 'redis.sock');
}

function prepareSocketPath(folder: string): string {
  const socketPath = socketPathOf(folder);
  const outside = dirname(socketPath);
  if (outside === folder) return socketPath;
  mkdirSync(outside, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(outside);
  if (uid !== process.getuid?.() || (mode & 0o777) !== 0o700) {
    throw new DataDirUnusable(
      `The path of ${folder} is too long for a socket, and ${outside}, used instead, is open to others. ` +
        'Remove that folder, or set DATA_DIR to a shorter path.',
    );
  }
  return socketPath;
}
