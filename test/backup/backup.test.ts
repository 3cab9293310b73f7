import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { takeBackup } from '../../src/backup/backup.ts';
import { BackupError, dumpRedis, takenAtMsOf } from '../../src/backup/dump.ts';
import { markEmbedded, restoreBackup } from '../../src/backup/restore.ts';
import { createQueues } from '../../src/jobs/queue.ts';
import { freeBytes, prepareDataDir } from '../../src/store/embedded/data-dir.ts';
import { DataDirInUse } from '../../src/store/embedded/data-dir-lock.ts';
import { startEmbeddedRedis } from '../../src/store/embedded/embedded-redis.ts';
import {
  findServer,
  RedisStartFailed,
  sendCommand,
  spawnServer,
} from '../../src/store/embedded/redis-server.ts';
import { askTime } from '../../src/store/redis/clock.ts';
import { createRestoredStore } from '../../src/store/restored.ts';

let base: string;
let file: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'docket-backup-')));
  file = join(base, 'docket.rdb');
});
afterEach(() => rmSync(base, { recursive: true }));

const parts = () => ({
  dataDir: join(base, 'data'),
  searchPath: process.env.PATH ?? '',
  log: { info() {}, warn() {}, error() {} },
});

/** Docket's Redis, as far as its data goes. */
async function run<T>(works: (client: Redis) => Promise<T>): Promise<T> {
  const redis = await startEmbeddedRedis(parts());
  const client = new Redis({ path: redis.socketPath });
  try {
    return await works(client);
  } finally {
    client.disconnect();
    await redis.stop();
  }
}

const isRefused = (text: string) =>
  expect.objectContaining({ name: BackupError.name, message: expect.stringContaining(text) });

test('a backup of what runs is put back, and what came after it is moved aside', async () => {
  const timeMs = await run(async (client) => {
    await client.mset('early', 'kept', 'large', 'x'.repeat(1_000_000));
    const bytes = await takeBackup(file, parts());
    expect({ bytes, mode: statSync(file).mode & 0o777 }).toEqual({ bytes: statSync(file).size, mode: 0o600 });
    expect(readdirSync(join(base, 'data', 'redis')).filter((name) => name.endsWith('.rdb'))).toEqual([]);
    const [seconds] = await client.time();
    await client.set('late', 'lost');
    return Number(seconds) * 1000;
  });
  const { takenAtMs, restoredAtMs, movedTo } = await restoreBackup(createReadStream(file), parts());
  expect(timeMs - takenAtMs).toBeLessThanOrEqual(60_000);
  expect(restoredAtMs).toBeGreaterThanOrEqual(takenAtMs);
  await run(async (client) => {
    expect(await client.mget('early', 'late')).toEqual(['kept', null]);
    expect(await client.strlen('large')).toBe(1_000_000);
    expect(await createRestoredStore(client).load()).toEqual({ takenAtMs, restoredAtMs });
  });
  expect(existsSync(join(movedTo ?? '', 'has-data'))).toBe(true);
  expect(readdirSync(join(base, 'data')).filter((name) => name.startsWith('restore-'))).toEqual([]);
});

test('of what does not run, too; it is as before afterwards', async () => {
  await run((client) => client.set('early', 'kept'));
  await takeBackup(file, parts());
  rmSync(join(base, 'data'), { recursive: true });
  expect((await restoreBackup(createReadStream(file), parts())).movedTo).toBeUndefined();
  expect(await run((client) => client.get('early'))).toBe('kept');
});

test('backups to one file at a time neither mix nor replace each other, and leave files of other names alone', async () => {
  await run((client) => client.set('large', 'x'.repeat(1_000_000)));
  writeFileSync(`${file}.part`, 'another', { mode: 0o644 });
  const taken = await run(() => Promise.allSettled([takeBackup(file, parts()), takeBackup(file, parts())]));
  expect(taken.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(taken).toContainEqual({ status: 'rejected', reason: isRefused('already exists') });
  expect(takenAtMsOf(file)).toBeGreaterThan(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(`${file}.part`, 'utf8')).toBe('another');
  expect(readdirSync(base).toSorted()).toEqual(['data', 'docket.rdb', 'docket.rdb.part']);
});

test('in whatever parts it comes, a backup is what stands between the two marks', async () => {
  const mark = 'f'.repeat(20) + '0'.repeat(20);
  // What looks like the beginning of the mark is none.
  const data = `REDIS0011${mark.slice(0, 30)}-${mark.slice(0, 39)}`;
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.setNoDelay().on('data', (line) => {
      asked.push(String(line).trim());
      if (String(line) !== 'SYNC\r\n') return void socket.write('-ERR no\r\n');
      for (const part of `\n\n$EOF:${mark}\r\n${data}${mark}`) socket.write(part);
    });
  }).listen(join(base, 'socket'));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const target = new PassThrough();
  const [bytes, read] = await Promise.all([dumpRedis(join(base, 'socket'), target), text(target)]);
  expect({ bytes, read }).toEqual({ bytes: data.length, read: data });
  expect(asked.at(-2)).toBe('REPLCONF CAPA EOF');
});

describe('refused without a change', () => {
  test('where nothing was kept yet', async () => {
    await expect(takeBackup(file, parts())).rejects.toEqual(isRefused('There is nothing to back up'));
    expect(existsSync(join(base, 'data'))).toBe(false);
  });

  test('over a file that is there, or into a folder that is not', async () => {
    await run((client) => client.set('early', 'kept'));
    writeFileSync(file, 'another');
    await expect(takeBackup(file, parts())).rejects.toEqual(isRefused('already exists'));
    expect(readFileSync(file, 'utf8')).toBe('another');
    await expect(takeBackup(join(base, 'no', 'file'), parts())).rejects.toEqual(isRefused('ENOENT'));
  });

  test.each([
    ['that is none', () => Buffer.from('anything else')],
    ['that is cut', (whole: Buffer) => whole.subarray(0, -20)],
  ])('a backup %s', async (_, change) => {
    await run((client) => client.set('early', 'kept'));
    await takeBackup(file, parts());
    await expect(restoreBackup(Readable.from([change(readFileSync(file))]), parts())).rejects.toEqual(
      isRefused(''),
    );
    expect(await run((client) => client.get('early'))).toBe('kept');
  });

  test('a backup with a bit that has changed', async () => {
    await run((client) => client.set('early', 'kept'));
    await takeBackup(file, parts());
    const bytes = readFileSync(file);
    const at = bytes.indexOf('kept');
    bytes[at] = 'l'.charCodeAt(0);
    await expect(restoreBackup(Readable.from([bytes]), parts())).rejects.toThrow(RedisStartFailed);
    expect(await run((client) => client.get('early'))).toBe('kept');
    expect(readdirSync(join(base, 'data'))).toEqual(['redis']);
  });

  test('a restore while Docket runs', async () => {
    await run(async (client) => {
      await client.set('early', 'kept');
      await takeBackup(file, parts());
      await expect(restoreBackup(createReadStream(file), parts())).rejects.toThrow(DataDirInUse);
      await expect(markEmbedded(1, parts())).rejects.toThrow(DataDirInUse);
    });
    expect(takenAtMsOf(file)).toBeGreaterThan(0);
  });
});

test('a Redis that a killed Docket left behind is backed up, and ended before a restore', async () => {
  const place = prepareDataDir(join(base, 'data'), freeBytes);
  const server = spawnServer(findServer(parts().searchPath), place);
  const ended = once(server, 'exit');
  await vi.waitUntil(async () => (await sendCommand(place.socketPath, 'PING', 1000)).is === 'reply', 20_000);
  await takeBackup(file, parts());
  expect(server.exitCode).toBeNull();
  await restoreBackup(createReadStream(file), parts());
  expect(await ended).toEqual([0, null]);
});

describe('a restore that is killed', () => {
  /** Restores in a process that kills itself at one of its renames. Returns whether it came so far. */
  const diesAtRename = (number: number) => {
    const module = (name: string) => JSON.stringify(new URL(`../../src/${name}`, import.meta.url));
    const { signal, stderr } = spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import fs, { createReadStream } from 'node:fs';
        import { syncBuiltinESMExports } from 'node:module';
        const { renameSync } = fs;
        let renames = 0;
        fs.renameSync = (...paths) => {
          renames += 1;
          if (renames === ${number}) process.kill(process.pid, 'SIGKILL');
          renameSync(...paths);
        };
        syncBuiltinESMExports();
        const { restoreBackup } = await import(${module('backup/restore.ts')});
        const log = { info() {}, warn() {}, error() {} };
        await restoreBackup(createReadStream(${JSON.stringify(file)}), { ...${JSON.stringify(parts())}, log });`,
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    return signal === 'SIGKILL';
  };

  test.each(['a start', 'a backup', 'a restore'])(
    'before any of its renames is finished or undone by %s',
    async (by) => {
      await run((client) => client.set('early', 'kept'));
      await takeBackup(file, parts());
      let number = 1;
      for (; ; number += 1) {
        await run((client) => client.set('late', 'there'));
        const died = diesAtRename(number);
        if (by === 'a backup') await takeBackup(join(base, `${number}.rdb`), parts());
        if (by === 'a restore') await restoreBackup(createReadStream(file), parts());
        const [early, late] = await run((client) => client.mget('early', 'late'));
        expect({ number, early }).toEqual({ number, early: 'kept' });
        if (by !== 'a restore')
          expect({ number, late }).toEqual({ number, late: number <= 2 ? 'there' : null });
        const names = readdirSync(join(base, 'data')).filter((name) => !/^redis\.before-\d{17}$/.test(name));
        expect({ number, names }).toEqual({ number, names: ['redis'] });
        if (!died) break;
      }
      expect(number).toBe(4);
    },
  );

  test('while it loads leaves neither its Redis nor its folder, once Docket starts', async () => {
    await run((client) => client.set('early', 'kept'));
    const place = prepareDataDir(join(base, 'data', 'redis.restoring-aB3xyz'), freeBytes);
    const server = spawnServer(findServer(parts().searchPath), place);
    onTestFinished(() => void server.kill('SIGKILL'));
    const ended = once(server, 'exit');
    expect(await run((client) => client.get('early'))).toBe('kept');
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(readdirSync(join(base, 'data'))).toEqual(['redis']);
  });
});

describe('data that was put back in another way', () => {
  const enqueue = async (client: Redis) => {
    const queues = createQueues(client, () => {});
    await queues.enqueue('docs-export', 'export', 'r1', {}, { replace: true });
    await queues.close();
  };

  test('is marked by hand', async () => {
    await run(enqueue);
    const mark = await markEmbedded(5000, parts());
    expect(mark.takenAtMs).toBe(5000);
    expect(await run((client) => createRestoredStore(client).load())).toEqual(mark);
  });

  test('is not marked where there is none', async () => {
    await expect(markEmbedded(5000, parts())).rejects.toEqual(isRefused(`no Docket data in ${base}`));
    expect(existsSync(join(base, 'data'))).toBe(false);
    await run((client) => client.set('another', 'thing'));
    await expect(markEmbedded(5000, parts())).rejects.toEqual(isRefused('no Docket data in'));
    expect(await run((client) => createRestoredStore(client).load())).toBeUndefined();
  });

  test('is not marked as that of a time that is not there yet', async () => {
    const inAnHourMs = await run(async (client) => {
      await enqueue(client);
      return (await askTime(client)) + 3_600_000;
    });
    await expect(markEmbedded(inAnHourMs, parts())).rejects.toEqual(isRefused('is in the future'));
    expect(await run((client) => createRestoredStore(client).load())).toBeUndefined();
  });
});
