import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { takenAtMsOf } from '../../src/backup/dump.ts';
import { createQueues } from '../../src/jobs/queue.ts';
import { startEmbeddedRedis } from '../../src/store/embedded/embedded-redis.ts';
import { createRestoredStore } from '../../src/store/restored.ts';
import { endsWithTests } from '../support/flows/children.ts';
import { redisForTests } from '../support/redis.ts';

const external = redisForTests();
const repository = fileURLToPath(new URL('../../', import.meta.url));
const log = { info() {}, warn() {}, error() {} };
const searchPath = process.env.PATH ?? '';
let root: string;
let dataDir: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'docket-backup-'));
  for (const name of ['src', 'package.json'])
    cpSync(join(repository, name), join(root, name), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
});
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  dataDir = mkdtempSync(join(root, 'data-'));
});

async function run(args: string[], env: NodeJS.ProcessEnv = { DATA_DIR: dataDir }, input?: Buffer) {
  const child = endsWithTests(
    spawn(process.execPath, ['src/backup/main.ts', ...args], {
      cwd: root,
      env: { PATH: searchPath, ...env },
    }),
  );
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

async function withData<T>(does: (client: Redis) => Promise<T>): Promise<T> {
  const redis = await startEmbeddedRedis({ dataDir, log, searchPath });
  const client = new Redis({ path: redis.socketPath });
  try {
    return await does(client);
  } finally {
    client.disconnect();
    await redis.stop();
  }
}

test('a backup goes to standard output while Docket runs, and comes back from standard input', async () => {
  const taken = await withData(async (client) => {
    await client.set('early', 'kept');
    return await run(['backup', '-']);
  });
  expect(taken).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Backed up: to standard output, \d+ bytes\./),
  });
  const restored = await run(['restore', '-'], undefined, taken.stdout);
  expect(restored).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Restored: the data of .*Z\.\nThe previous data is in .*redis\.before-/),
  });
  expect(await withData((client) => client.get('early'))).toBe('kept');
});

describe('a backup to standard output', () => {
  /** Runs a line of the shell with $BACKUP as the program. */
  const shell = async (line: string, env: NodeJS.ProcessEnv = {}) => {
    const child = endsWithTests(
      spawn('sh', ['-c', line], {
        cwd: root,
        env: {
          PATH: searchPath,
          DATA_DIR: dataDir,
          BACKUP: `${process.execPath} src/backup/main.ts backup -`,
          ...env,
        },
      }),
    );
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { code, said };
  };
  beforeEach(async () => {
    await withData((client) => client.set('large', randomBytes(1_000_000)));
  });

  test('into a file is whole', async () => {
    const file = join(dataDir, 'docket.rdb');
    expect(await shell(`exec $BACKUP > ${file}`)).toMatchObject({ code: 0 });
    expect(takenAtMsOf(file)).toBeGreaterThan(0);
  });

  test.each([
    ['onto a full disk', 'exec $BACKUP > /dev/full', 'ENOSPC'],
    ['to somebody who stops reading', '{ $BACKUP; echo ended with $? >&2; } | head -c 1', 'EPIPE'],
  ])('%s ends with 1 and why', async (_, line, why) => {
    const { code, said } = await shell(line);
    expect(said).toContain(`The backup could not be written (${why}).\n`);
    if (!said.includes('ended with 1')) expect(code).toBe(1);
  });

  test('is refused where npm writes there, too', async () => {
    const npm = { npm_lifecycle_event: 'backup' };
    expect(await shell('exec $BACKUP > /dev/null', npm)).toMatchObject({
      code: 1,
      said: expect.stringContaining('npm run --silent backup -- -'),
    });
    expect(await shell('exec $BACKUP > /dev/null', { ...npm, npm_config_loglevel: 'silent' })).toMatchObject({
      code: 0,
    });
  });
});

test('a backup that finds no room is not put back, and changes nothing', async () => {
  await withData((client) => client.set('large', randomBytes(100_000)));
  const file = join(dataDir, 'docket.rdb');
  expect(await run(['backup', file])).toMatchObject({ code: 0 });
  // Files get no larger than some kB, as on a disk that gets full meanwhile.
  const line = `ulimit -f 40; exec ${process.execPath} src/backup/main.ts restore ${file}`;
  const { status, stderr } = spawnSync('sh', ['-c', line], {
    cwd: root,
    env: { PATH: searchPath, DATA_DIR: dataDir },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toBe('The backup could not be restored (EFBIG). Nothing was changed.\n');
  expect(await withData((client) => client.strlen('large'))).toBe(100_000);
});

test('a file is for its owner alone', async () => {
  await withData((client) => client.set('early', 'kept'));
  const file = join(dataDir, 'docket.rdb');
  expect(await run(['backup', file])).toMatchObject({ code: 0 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(takenAtMsOf(file)).toBeGreaterThan(0);
});

test('a Redis of the operator is not backed up, but can be marked', async () => {
  const env = { REDIS_URL: external.url };
  expect(await run(['backup', '-'], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('with its own tools'),
  });
  const time = '2026-01-05T02:00Z';
  expect(await run(['restore', '--mark', time], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no Docket data in that Redis'),
  });
  const queues = createQueues(external.client, () => {});
  await queues.enqueue('docs-export', 'export', 'r1', {}, { replace: true });
  await queues.close();
  expect(await run(['restore', '--mark', '2126-01-05T02:00Z'], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is in the future'),
  });
  expect(await run(['restore', '--mark', time], env)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('2026-01-05T02:00:00Z'),
  });
  expect(await createRestoredStore(external.client).load()).toMatchObject({
    takenAtMs: Date.UTC(2026, 0, 5, 2),
  });
});

test.each([
  ['backup'],
  ['restore'],
  ['restore --mark'],
  ['restore --mark yesterday'],
  ['backup --mark 2026-11-23T02:00Z'],
  ['backup a b'],
  ['other a'],
  ['backup --help'],
])('%s is answered with how it is used', async (line) => {
  expect(await run(line.split(' '))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Usage: npm run backup/),
  });
});

test.each([
  [['backup', '-'], {}, 'There is nothing to back up'],
  [['restore', '/no/such/file'], {}, 'cannot be read (ENOENT)'],
  [['restore', '/'], {}, 'cannot be read (EISDIR)'],
  [['backup', '-'], { DATA_DIR: '"/data"' }, 'DATA_DIR'],
  [['restore', '--mark', '2026-11-23T02:00Z'], { REDIS_URL: 'redis://127.0.0.1:1' }, 'Redis'],
])('%j ends with 1 and what to do', async (args, env, said) => {
  expect(await run(args, { DATA_DIR: dataDir, ...env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(said),
  });
});
