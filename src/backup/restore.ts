import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defaultTiming } from '../runtime/timing.ts';
import { freeBytes, prepareDataDir } from '../store/embedded/data-dir.ts';
import { lockDataDir } from '../store/embedded/data-dir-lock.ts';
import { startEmbeddedRedis } from '../store/embedded/embedded-redis.ts';
import { leftoverPid, sendCommand } from '../store/embedded/redis-server.ts';
import type { RedisAddress } from '../store/redis/address.ts';
import { connectForWork } from '../store/redis/connections.ts';
import { createRestoredStore, type RestoredMark } from '../store/restored.ts';
import type { EmbeddedParts } from './backup.ts';
import { BackupError, takenAtMsOf } from './dump.ts';

const LOCK_MS = 500;
const SHUTDOWN_MS = 10_000;

export interface Restored extends RestoredMark {
  /** Where what was there before is now. */
  movedTo: string | undefined;
}

/**
 * Puts a backup in the place of what Docket keeps in its own Redis, which is moved aside, and marks it as restored. It is
 * loaded and marked in a folder of its own first: what fails changes nothing. Throws `BackupError`, or what a start throws.
 */
export async function restoreBackup(backup: Buffer, parts: EmbeddedParts): Promise<Restored> {
  const takenAtMs = takenAtMsOf(backup);
  const place = prepareDataDir(parts.dataDir, freeBytes);
  const dataDir = resolve(parts.dataDir);
  const release = await lockDataDir(place.folder, dataDir, LOCK_MS);
  const work = mkdtempSync(join(dataDir, 'restore-'));
  try {
    // One that a killed Docket left running would go on writing to the folder.
    if (leftoverPid(place) !== undefined) await sendCommand(place.socketPath, 'SHUTDOWN', SHUTDOWN_MS);
    const pid = leftoverPid(place);
    if (pid !== undefined)
      throw new BackupError(`A Redis runs on ${place.folder}. End it first: kill ${pid}`);
    mkdirSync(join(work, 'redis'), { mode: 0o700 });
    writeFileSync(join(work, 'redis', 'appendonly.aof'), backup, { mode: 0o600, flush: true });
    const mark = await markEmbedded(takenAtMs, { ...parts, dataDir: work });
    const hadData = existsSync(join(place.folder, 'has-data'));
    const movedTo = `${place.folder}.before-${new Date(mark.restoredAtMs).toISOString().replace(/\D/g, '').slice(0, 14)}`;
    renameSync(place.folder, movedTo);
    renameSync(join(work, 'redis'), place.folder);
    if (!hadData) rmSync(movedTo, { recursive: true });
    return { ...mark, movedTo: hadData ? movedTo : undefined };
  } finally {
    rmSync(work, { recursive: true, force: true });
    release();
  }
}

/** Marks data that was put back in another way, as that of a moment. No Docket may run on it. */
export async function markEmbedded(takenAtMs: number, parts: EmbeddedParts): Promise<RestoredMark> {
  const redis = await startEmbeddedRedis(parts);
  try {
    return await markRedis(takenAtMs, { socketPath: redis.socketPath });
  } finally {
    await redis.stop();
  }
}

export async function markRedis(takenAtMs: number, address: RedisAddress): Promise<RestoredMark> {
  const redis = connectForWork(address, defaultTiming, () => {});
  try {
    return await createRestoredStore(redis).mark(takenAtMs);
  } finally {
    redis.disconnect();
  }
}
