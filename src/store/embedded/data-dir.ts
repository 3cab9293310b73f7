import { hash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ServerLog, ServerPlace } from './redis-server.ts';

/** The data folder cannot be used; the message says what the operator has to do. */
export class DataDirUnusable extends Error {
  override name = 'DataDirUnusable';
}

/** With less free space than this, a disk counts as full: Redis ends when it cannot write. */
const MIN_FREE_BYTES = 1_000_000;

/** A socket's path holds 108 bytes with the final zero, on macOS 104. */
const MAX_SOCKET_BYTES = process.platform === 'darwin' ? 103 : 107;

/** Returns how many bytes can still be written to the disk of a folder; `Infinity` when that cannot be read. */
export function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Creates the folder, closed to other users, and finds a socket path that is short enough. Throws `DataDirUnusable`
 * when the folder cannot be used, or its disk is full.
 */
export function prepareDataDir(dataDir: string, free: (folder: string) => number): ServerPlace {
  const given = resolve(dataDir);
  const folder = withDataDirErrors(given, () => {
    mkdirSync(given, { recursive: true, mode: 0o700 });
    // A subfolder, since the permissions of DATA_DIR itself may not be ours to change.
    const own = join(realpathSync(given), 'redis');
    mkdirSync(own, { recursive: true });
    checkAccess(own);
    if ((statSync(own).mode & 0o777) !== 0o700) chmodSync(own, 0o700);
    return own;
  });
  checkSpace(given, folder, free);
  return {
    folder,
    socketPath: socketPathFor(folder),
    pidFile: join(folder, 'redis.pid'),
    logFile: join(folder, 'redis.log'),
  };
}

/**
 * Returns where the socket of a Redis in this folder is, or `undefined` when the folder is not there yet. Changes nothing.
 * Throws `DataDirUnusable` when `prepareDataDir` could not use the folder.
 */
export function inspectDataDir(dataDir: string, free: (folder: string) => number): string | undefined {
  const given = resolve(dataDir);
  return withDataDirErrors(given, () => {
    const own = join(given, 'redis');
    const { path } = ownerOf(own);
    if (!statSync(path).isDirectory())
      throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR', path });
    if (path === own) checkAccess(own);
    else accessSync(path, constants.W_OK | constants.X_OK);
    checkSpace(given, path, free);
    return path === own ? socketPathOf(realpathSync(own)) : undefined;
  });
}

const DISK_FULL =
  'the disk of DATA_DIR is full, so nothing can be saved. Free some space: Redis then resumes by itself';

/**
 * Returns a function that returns the problem of a disk without room: on a full one Redis would end at each write. It
 * logs when the disk becomes full and when it has room again.
 */
export function watchDiskSpace(
  folder: string,
  free: (folder: string) => number,
  log: ServerLog,
): () => string | undefined {
  let wasFull = false;
  return () => {
    const facts = { problem: 'disk', folder, freeBytes: free(folder) };
    const isFull = facts.freeBytes < MIN_FREE_BYTES;
    if (isFull && !wasFull) log.error(facts, DISK_FULL);
    if (!isFull && wasFull) log.info(facts, 'the disk of DATA_DIR has room again');
    wasFull = isFull;
    return isFull ? DISK_FULL : undefined;
  };
}

/** Returns a path quoted for a shell, if it has to be. */
export function quoteForShell(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function checkSpace(dataDir: string, folder: string, free: (folder: string) => number): void {
  const room = free(folder);
  if (room < MIN_FREE_BYTES)
    throw new DataDirUnusable(
      `The disk of DATA_DIR ${dataDir} is full: ${Math.floor(room / 1000)} kB are free. Free some space, then start again.`,
    );
}

/** Throws when a file or folder cannot be opened, such as one that another user left there: Redis would only crash. */
function checkAccess(folder: string): void {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) checkAccess(path);
    else if (entry.isFile()) accessSync(path, constants.R_OK | constants.W_OK);
  }
}

function withDataDirErrors<T>(dataDir: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof DataDirUnusable) throw error;
    throw new DataDirUnusable(describeProblem(dataDir, codeOf(error), pathOf(error) ?? dataDir), {
      cause: error,
    });
  }
}

/** Returns an error's code. Creating a folder in a forbidden place fails with ENOENT; then the folder above says why. */
function codeOf(error: unknown): string | undefined {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' || path === undefined) return code;
  try {
    accessSync(ownerOf(path).path, constants.W_OK);
    return code;
  } catch (refused) {
    return (refused as NodeJS.ErrnoException).code;
  }
}

const pathOf = (error: unknown) => (error as NodeJS.ErrnoException).path;

function describeProblem(dataDir: string, code: string | undefined, path: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return describePermissionProblem(dataDir, path);
    case 'EEXIST':
    case 'ENOTDIR':
      return `DATA_DIR ${dataDir} is a file, or is inside one. Set it to a folder.`;
    case 'EROFS':
      return `DATA_DIR ${dataDir} is on a read-only disk. Mount it writable (with docker: without :ro), or set DATA_DIR to another folder.`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `The disk of DATA_DIR ${dataDir} is full (${code}). Free some space, then start again.`;
    default:
      return `DATA_DIR ${dataDir} cannot be used (${code}). Set it to a folder that Docket may write to.`;
  }
}

/** Returns the problem with the owner of the folder, of a file in it, or of the folder in which it cannot be created. */
function describePermissionProblem(dataDir: string, refused: string): string {
  const us = process.getuid?.();
  const { path, uid } = ownerOf(refused);
  const owner = uid === 0 ? 'root' : `uid ${uid}`;
  const target = quoteForShell(dataDir);
  if (uid === us)
    return `DATA_DIR ${dataDir} is not writable: ${path} forbids it. Run: chmod -R u+rwX ${quoteForShell(path)}`;
  const runs = `and Docket runs as uid ${us}`;
  if (path === dataDir)
    return `DATA_DIR ${dataDir} belongs to ${owner}, ${runs}. Run: chown -R ${us} ${target}`;
  if (path.startsWith(`${dataDir}/`))
    return `DATA_DIR ${dataDir} contains ${path}, which belongs to ${owner}, ${runs}. Run: chown -R ${us} ${target}`;
  return `DATA_DIR ${dataDir} cannot be created: ${path} belongs to ${owner}, ${runs}. Run: mkdir -p ${target} && chown -R ${us} ${target}`;
}

/** Returns the nearest that exists of a path and the folders above it, with its owner. */
function ownerOf(path: string): { path: string; uid: number | undefined } {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined) return { path, uid: stats.uid };
  } catch {
    // A folder above it may not be read.
  }
  return path === dirname(path) ? { path, uid: undefined } : ownerOf(dirname(path));
}

function socketPathOf(folder: string): string {
  const inside = join(folder, 'redis.sock');
  if (Buffer.byteLength(inside) <= MAX_SOCKET_BYTES) return inside;
  const name = hash('sha256', folder).slice(0, 16);
  return join(tmpdir(), `docket-${name}`, 'redis.sock');
}

function socketPathFor(folder: string): string {
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
