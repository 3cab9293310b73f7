import { createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { queueNames } from '../jobs/queue.ts';
import { defaultTiming } from '../runtime/timing.ts';
import { freeBytes, inspectDataDir, prepareDataDir } from '../store/embedded/data-dir.ts';
import { lockDataDir } from '../store/embedded/data-dir-lock.ts';
import { startEmbeddedRedis } from '../store/embedded/embedded-redis.ts';
import { leftoverPid, type ServerPlace, sendCommand } from '../store/embedded/redis-server.ts';
import {
  isRestoreUnfinished,
  removeUnfinishedRestores,
  replaceFolder,
  WORK_PREFIX,
} from '../store/embedded/unfinished-restore.ts';
import { PREFIX } from '../store/keys.ts';
import type { RedisAddress } from '../store/redis/address.ts';
import type { RedisClient } from '../store/redis/client.ts';
import { askTime } from '../store/redis/clock.ts';
import { connectForWork } from '../store/redis/connections.ts';
import { createRestoredStore, type RestoredMark } from '../store/restored.ts';
import type { EmbeddedParts } from './backup.ts';
import { BackupError, codeOf, takenAtMsOf } from './dump.ts';

const LOCK_MS = 500;
const SHUTDOWN_MS = 10_000;

export interface Restored extends RestoredMark {
  /** Where what was there before is now. */
  movedTo: string | undefined;
}

/**
 * Puts a backup in the place of what Docket keeps in its own Redis, which is moved aside, and marks it as restored. It is
 * loaded and marked in a folder of its own first: what fails changes nothing, and what is killed is finished or undone by
 * the next start. Throws `BackupError`, or what a start throws.
 */
export async function restoreBackup(backup: AsyncIterable<Buffer>, parts: EmbeddedParts): Promise<Restored> {
  const place = prepareDataDir(parts.dataDir, freeBytes);
  const release = await lockDataDir(place.folder, resolve(parts.dataDir), LOCK_MS);
  const dataDir = dirname(place.folder);
  try {
    removeUnfinishedRestores(dataDir);
    await endLeftover(place);
    return await replace(backup, place.folder, parts);
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    throw new BackupError(`The backup could not be restored (${codeOf(error)}). Nothing was changed.`, {
      cause: error,
    });
  } finally {
    removeUnfinishedRestores(dataDir);
    release();
  }
}

/** Ends one that a killed Docket left running: it would go on writing to the folder. */
async function endLeftover(place: ServerPlace): Promise<void> {
  if (leftoverPid(place) !== undefined) await sendCommand(place.socketPath, 'SHUTDOWN', SHUTDOWN_MS);
  const pid = leftoverPid(place);
  if (pid !== undefined) throw new BackupError(`A Redis runs on ${place.folder}. End it first: kill ${pid}`);
}

async function replace(
  backup: AsyncIterable<Buffer>,
  folder: string,
  parts: EmbeddedParts,
): Promise<Restored> {
  const work = mkdtempSync(join(dirname(folder), WORK_PREFIX));
  const loaded = join(work, 'redis');
  mkdirSync(loaded, { mode: 0o700 });
  const file = join(loaded, 'appendonly.aof');
  await pipeline(backup, createWriteStream(file, { mode: 0o600, flush: true }));
  const mark = await loadAndMark(takenAtMsOf(file), { ...parts, dataDir: work });
  const hadData = existsSync(join(folder, 'has-data'));
  const movedTo = `${folder}.before-${new Date(mark.restoredAtMs).toISOString().replace(/\D/g, '').slice(0, 17)}`;
  replaceFolder(dirname(folder), loaded, movedTo);
  if (!hadData) rmSync(movedTo, { recursive: true });
  return { ...mark, movedTo: hadData ? movedTo : undefined };
}

const loadAndMark = (takenAtMs: number, parts: EmbeddedParts): Promise<RestoredMark> =>
  withEmbedded(parts, (client) => createRestoredStore(client).mark(takenAtMs));

const isOfSystem = (error: unknown) => error instanceof Error && 'syscall' in error;

/** Marks data that was put back in another way, as that of a moment. No Docket may run on it. Throws `BackupError`. */
export async function markEmbedded(takenAtMs: number, parts: EmbeddedParts): Promise<RestoredMark> {
  // A start would make the folder.
  if (inspectDataDir(parts.dataDir, freeBytes) === undefined && !isRestoreUnfinished(parts.dataDir))
    throw new BackupError(nothingIn(resolve(parts.dataDir)));
  return await withEmbedded(parts, (client) => markPutBack(client, takenAtMs, resolve(parts.dataDir)));
}

/** The same for a Redis of the operator's. */
export async function markExternal(takenAtMs: number, address: RedisAddress): Promise<RestoredMark> {
  const client = connectForWork(address, defaultTiming, () => {});
  try {
    return await markPutBack(client, takenAtMs, 'that Redis');
  } finally {
    client.disconnect();
  }
}

async function markPutBack(client: RedisClient, takenAtMs: number, place: string): Promise<RestoredMark> {
  // BullMQ keeps one for each queue that was ever there.
  const metas = queueNames.map((name) => `${PREFIX}:${name}:meta`);
  if ((await client.exists(...metas)) === 0) throw new BackupError(nothingIn(place));
  const nowMs = await askTime(client);
  if (takenAtMs > nowMs)
    throw new BackupError(
      `The time of the data is in the future: the clock of Redis says ${new Date(nowMs).toISOString()}. Give the time of the data with its zone (Z is UTC).`,
    );
  return await createRestoredStore(client).mark(takenAtMs);
}

const nothingIn = (place: string) => `There is no Docket data in ${place}. Restore it first, then mark it.`;

/** Runs Docket's own Redis meanwhile. Throws `BackupError` where that ends too early. */
async function withEmbedded<T>(parts: EmbeddedParts, works: (client: RedisClient) => Promise<T>): Promise<T> {
  const redis = await startEmbeddedRedis(parts);
  const client = connectForWork({ socketPath: redis.socketPath }, defaultTiming, () => {});
  let ended: string | undefined;
  redis.onExit((reason) => {
    ended = reason;
    // Else it would wait until Redis is back.
    client.disconnect();
  });
  try {
    return await works(client);
  } catch (error) {
    if (ended === undefined) throw error;
    throw new BackupError(`Redis ended while writing (${ended}): the disk of DATA_DIR may be full.`);
  } finally {
    client.disconnect();
    await redis.stop();
  }
}
