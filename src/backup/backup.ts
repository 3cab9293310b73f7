import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { freeBytes, inspectDataDir } from '../store/embedded/data-dir.ts';
import { startEmbeddedRedis } from '../store/embedded/embedded-redis.ts';
import { type ServerLog, sendCommand } from '../store/embedded/redis-server.ts';
import { isRestoreUnfinished } from '../store/embedded/unfinished-restore.ts';
import { BackupError, codeOf, dumpRedis } from './dump.ts';

export interface EmbeddedParts {
  dataDir: string;
  /** Folders in which redis-server is searched for, as in PATH. */
  searchPath: string;
  log: ServerLog;
}

const ANSWER_MS = 2000;

/**
 * Writes all that Docket keeps in its own Redis to a file that nobody else can read, or to a stream; also while Docket
 * runs. Returns the number of bytes. Throws `BackupError`, or what a start throws.
 */
export async function takeBackup(target: string | Writable, parts: EmbeddedParts): Promise<number> {
  const running = inspectDataDir(parts.dataDir, freeBytes);
  if (running === undefined && !isRestoreUnfinished(parts.dataDir))
    throw new BackupError(
      `There is nothing to back up: Docket has not run on ${resolve(parts.dataDir)} yet.`,
    );
  if (running !== undefined && (await sendCommand(running, 'PING', ANSWER_MS)).is !== 'absent')
    return write(running, target);
  const redis = await startEmbeddedRedis(parts);
  try {
    return await write(redis.socketPath, target);
  } finally {
    await redis.stop();
  }
}

async function write(socketPath: string, target: string | Writable): Promise<number> {
  if (typeof target !== 'string') return dumpRedis(socketPath, target);
  refuseToReplace(target);
  // A name of its own: another backup may be under way to the same file.
  const part = `${target}.${randomBytes(4).toString('hex')}.part`;
  try {
    const fd = openSync(part, 'wx', 0o600);
    const bytes = await dumpRedis(socketPath, createWriteStream(part, { fd, flush: true }));
    refuseToReplace(target);
    renameSync(part, target);
    return bytes;
  } catch (error) {
    rmSync(part, { force: true });
    throw error instanceof BackupError
      ? error
      : new BackupError(`${target} cannot be written (${codeOf(error)}).`);
  }
}

function refuseToReplace(target: string): void {
  if (existsSync(target)) throw new BackupError(`${target} already exists. Choose another name.`);
}
