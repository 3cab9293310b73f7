import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { onDataDirs } from '../../support/store/embedded/world.ts';

const world = onDataDirs();
const isRoot = process.getuid?.() === 0;
const STRANGER = 65534;

describe('a DATA_DIR that cannot be used ends the start with the fix', () => {
  test('a file, and a folder below one', async () => {
    writeFileSync(world.dataDir, '');
    const said = (path: string) =>
      `DataDirUnusable: DATA_DIR ${path} is a file, or is inside one. Set it to a folder.`;
    expect(await world.refusal()).toBe(said('…/data'));
    expect(await world.refusal({ dataDir: join(world.dataDir, 'below') })).toBe(said('…/data/below'));
  });

  test('a link that leads nowhere', async () => {
    symlinkSync(join(world.base, 'nowhere'), world.dataDir);
    expect(await world.refusal()).toMatch(
      /^DataDirUnusable: DATA_DIR …\/data cannot be used \(E\w+\)\. Set it to/,
    );
  });

  test('one that its lock cannot be in', async () => {
    mkdirSync(world.file('docket.lock'), { recursive: true });
    expect(await world.refusal()).toMatch(
      /^DataDirUnusable: …\/data\/redis\/docket\.lock cannot be locked \(.+\)\. Set DATA_DIR to a folder on a disk of this machine\.$/,
    );
  });

  test('a disk that is full', async () => {
    expect(await world.refusal({ free: () => 12_345 })).toBe(
      'DataDirUnusable: The disk of DATA_DIR …/data is full: 12 kB are free. Free some space, then start again.',
    );
  });
});

/** What a start says under another user. Only root can become somebody else. */
function refusalAs(uid: number, dataDir: string): string {
  const program = new URL('../../../src/store/embedded/embedded-redis.ts', import.meta.url);
  const script = `
    const { startEmbeddedRedis } = await import(${JSON.stringify(program.href)});
    const log = { info() {}, warn() {}, error() {} };
    process.setgid(${uid});
    process.setuid(${uid});
    const start = startEmbeddedRedis({ dataDir: ${JSON.stringify(dataDir)}, log, searchPath: process.env.PATH });
    console.log(String(await start.then(async (redis) => { await redis.stop(); return 'it started'; }, (error) => error)));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.trimEnd().replaceAll(world.base, '…');
}

describe.skipIf(!isRoot)('a DATA_DIR of somebody else ends the start with the fix', () => {
  const opened = () => chmodSync(world.base, 0o755);

  test('the folder itself, and it starts once it was handed over as told', () => {
    opened();
    mkdirSync(world.dataDir);
    const said = refusalAs(STRANGER, world.dataDir);
    expect(said).toBe(
      `DataDirUnusable: DATA_DIR …/data belongs to root, and Docket runs as uid ${STRANGER}. Run: chown -R ${STRANGER} …/data`,
    );
    execFileSync('sh', ['-c', /chown .*/.exec(said)?.[0].replaceAll('…', world.base) ?? 'false']);
    expect(refusalAs(STRANGER, world.dataDir)).toBe('it started');
  });

  test('a file in it, left by a Docket of root', async () => {
    opened();
    await world.start();
    await world.stop();
    chownSync(world.dataDir, STRANGER, STRANGER);
    chownSync(world.file(), STRANGER, STRANGER);
    const said = refusalAs(STRANGER, world.dataDir);
    expect(said).toMatch(
      /^DataDirUnusable: DATA_DIR …\/data contains …\/data\/redis\/\S+, which belongs to root, /,
    );
    expect(said).toContain(`Run: chown -R ${STRANGER} …/data`);
  });

  test('the folder above, so that it cannot be made', () => {
    opened();
    const said = refusalAs(STRANGER, join(world.base, "ana's data"));
    expect(said).toBe(
      `DataDirUnusable: DATA_DIR …/ana's data cannot be created: … belongs to root, and Docket runs as uid ${STRANGER}. ` +
        `Run: mkdir -p '…/ana'\\''s data' && chown -R ${STRANGER} '…/ana'\\''s data'`,
    );
    execFileSync('sh', ['-c', /mkdir .*/.exec(said)?.[0].replaceAll('…', world.base) ?? 'false']);
    expect(refusalAs(STRANGER, join(world.base, "ana's data"))).toBe('it started');
  });

  test('one of its own that it may not write to', () => {
    opened();
    mkdirSync(world.dataDir, { mode: 0o500 });
    chownSync(world.dataDir, STRANGER, STRANGER);
    const said = refusalAs(STRANGER, world.dataDir);
    expect(said).toBe(
      'DataDirUnusable: DATA_DIR …/data is not writable: …/data forbids it. Run: chmod -R u+rwX …/data',
    );
    execFileSync('sh', ['-c', /chmod .*/.exec(said)?.[0].replaceAll('…', world.base) ?? 'false']);
    expect(refusalAs(STRANGER, world.dataDir)).toBe('it started');
  });
});

/** A disk of its own, or nothing where none may be mounted. */
function mounted(options: string): string | undefined {
  const folder = join(world.base, 'disk');
  mkdirSync(folder);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  if (status !== 0) return undefined;
  disks.push(folder);
  return folder;
}
const disks: string[] = [];
afterEach(async () => {
  await world.stop();
  for (const disk of disks.splice(0)) execFileSync('umount', [disk]);
});

test('a disk that can only be read ends the start with the fix', async ({ skip }) => {
  const disk = mounted('size=4m');
  if (disk === undefined) return skip('no disk may be mounted here');
  execFileSync('mount', ['-o', 'remount,ro', disk]);
  expect(await world.refusal({ dataDir: join(disk, 'data') })).toBe(
    'DataDirUnusable: DATA_DIR …/disk/data is on a read-only disk. Mount it writable (with docker: without :ro), or set DATA_DIR to another folder.',
  );
});

describe('a disk that fills while Docket runs', () => {
  const errors = () => world.logged.filter(({ level }) => level === 'error').map(({ text }) => text);
  const FULL =
    'the disk of DATA_DIR is full, so nothing can be saved. Free some space: Redis then resumes by itself';

  test('is named once, and Redis goes on by itself when there is room', async () => {
    let free = 5_000_000;
    const client = await world.start({ free: () => free });
    await client.set('run', 'accepted');
    free = 4096;
    process.kill(Number(world.read('redis.pid')), 'SIGKILL');
    await expect.poll(errors).toEqual([FULL]);
    free = 5_000_000;
    expect(await client.get('run')).toBe('accepted');
    expect(errors()).toEqual([FULL]);
    expect(world.logged.map(({ text }) => text)).toContain('the disk of DATA_DIR has room again');
  });

  test('for real: what was answered is there afterwards, and writing works again', async ({ skip }) => {
    const disk = mounted('size=4m');
    if (disk === undefined) return skip('no disk may be mounted here');
    world.dataDir = join(disk, 'data');
    const client = await world.start();
    await client.set('run', 'accepted');
    const ballast = join(disk, 'ballast');
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    const late = client.set('late', 'x'.repeat(100_000));
    await expect.poll(errors).toEqual([FULL]);
    expect(statSync(ballast).size).toBeGreaterThan(1_000_000);
    rmSync(ballast);
    expect(await late).toBe('OK');
    expect(await client.get('run')).toBe('accepted');
  });
});
