import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OperatorError } from '../../src/runtime/operator-error.ts';
import { startEmbeddedRedis } from '../../src/store/embedded-redis.ts';

type EmbeddedRedis = Awaited<ReturnType<typeof startEmbeddedRedis>>;

const searchPath = process.env.PATH ?? '';
/** Why each Redis ended by itself, also during its start. */
const deaths: string[] = [];
/** The processes that Docket knows to answer. */
const known: unknown[] = [];
const log = {
  info: (facts: object) => void ('pid' in facts && known.push(facts.pid)),
  warn: (facts: object) => void ('reason' in facts && deaths.push(String(facts.reason))),
  error: (facts: object) => void ('err' in facts && deaths.push(String(facts.err))),
};
const timing = { restartMs: 5, checkIntervalMs: 2, lockTimeoutMs: 100 };

let base: string;
let dataDir: string;
const started: EmbeddedRedis[] = [];
const clients: Redis[] = [];
const dockets: ChildProcess[] = [];

beforeEach(async () => {
  base = realpathSync(await mkdtemp(join(tmpdir(), 'docket-test-')));
  dataDir = join(base, 'data');
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  for (const docket of dockets.splice(0)) docket.kill('SIGKILL');
  for (const redis of started.splice(0)) await redis.stop();
  for (const pid of serversIn(base)) process.kill(pid, 'SIGKILL');
  await rm(base, { recursive: true });
});

async function start(
  options: Partial<Parameters<typeof startEmbeddedRedis>[0]> = {},
): Promise<EmbeddedRedis> {
  const redis = await startEmbeddedRedis({
    dataDir,
    log,
    searchPath,
    ...options,
    timing: { ...timing, ...options.timing },
  });
  started.push(redis);
  return redis;
}

function clientOf(redis: { socketPath: string }): Redis {
  const client = new Redis({ path: redis.socketPath, retryStrategy: () => 5, maxRetriesPerRequest: null });
  client.on('error', () => {});
  clients.push(client);
  return client;
}

/** A Docket of its own process, as far as its Redis goes. */
async function startDocket(): Promise<{ pid: number; socketPath: string; kill(): Promise<void> }> {
  const program = new URL('../../src/store/embedded-redis.ts', import.meta.url);
  const script = `
    const { startEmbeddedRedis } = await import(${JSON.stringify(program.href)});
    const log = { info() {}, warn() {}, error() {} };
    const redis = await startEmbeddedRedis({ dataDir: ${JSON.stringify(dataDir)}, log, searchPath: process.env.PATH });
    console.log(JSON.stringify({ socketPath: redis.socketPath }));
    process.stdin.resume();`;
  const docket = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  dockets.push(docket);
  let output = '';
  for await (const part of docket.stdout) {
    output += part;
    if (output.includes('\n')) break;
  }
  if (!output.includes('\n')) throw new Error(`It did not start:\n${docket.stderr.read()}`);
  const { socketPath } = JSON.parse(output);
  return {
    ...{ socketPath, pid: pidAt(socketPath) },
    async kill() {
      const ended = once(docket, 'exit');
      docket.kill('SIGKILL');
      await ended;
    },
  };
}

/** Process numbers of the Redis servers whose command line, or title, names a folder. */
function serversIn(folder: string): number[] {
  return processes()
    .filter(({ command }) => /(redis|valkey)-server/.test(command) && command.includes(folder))
    .map(({ pid }) => pid);
}

function processes(): { pid: number; command: string }[] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-Ao', 'pid=,command='], { encoding: 'utf8' }).split('\n');
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line }));
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return [{ pid: Number(pid), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') }];
    } catch {
      return [];
    }
  });
}

const pidAt = (socketPath: string) => Number(readFileSync(join(socketPath, '../redis.pid'), 'utf8'));
const pidOf = (redis: EmbeddedRedis) => pidAt(redis.socketPath);

/** Kills Redis once Docket knows that it answers, and waits until its death is noticed. Returns the reason in the log. */
async function killServer(redis: EmbeddedRedis): Promise<string> {
  await expect.poll(() => known, { interval: 1 }).toContain(pidOf(redis));
  const before = deaths.length;
  process.kill(pidOf(redis), 'SIGKILL');
  await expect.poll(() => deaths.length, { interval: 1 }).toBe(before + 1);
  return deaths.at(-1) ?? '';
}

test('starts within a second, on a socket that nobody else may open, with settings that lose nothing', async () => {
  const before = performance.now();
  const redis = await start();
  expect(performance.now() - before).toBeLessThan(1_000);

  expect(redis.socketPath).toBe(join(dataDir, 'redis', 'redis.sock'));
  expect(statSync(join(dataDir, 'redis')).mode & 0o777).toBe(0o700);
  expect(statSync(redis.socketPath).mode & 0o777).toBe(0o700);
  const client = clientOf(redis);
  const settings = {
    port: '0',
    appendonly: 'yes',
    appendfsync: 'always',
    'maxmemory-policy': 'noeviction',
    hz: '100',
    save: '',
  };
  for (const [name, value] of Object.entries(settings)) {
    expect(await client.config('GET', name)).toEqual([name, value]);
  }
});

describe('when Redis dies', () => {
  test('it is started again with its data, again and again', async () => {
    const redis = await start();
    const client = clientOf(redis);
    await client.set('run', 'accepted');
    for (let round = 0; round < 3; round++) {
      const before = pidOf(redis);
      expect(await killServer(redis)).toContain('SIGKILL');
      expect(await client.get('run')).toBe('accepted');
      expect(pidOf(redis)).not.toBe(before);
    }
    expect(serversIn(base)).toEqual([pidOf(redis)]);
  });
});

describe('when Docket is killed', () => {
  test('its Redis is stopped, and one of our own goes on with its data', async () => {
    const killed = await startDocket();
    await clientOf(killed).set('run', 'accepted');
    await killed.kill();
    expect(serversIn(base)).toEqual([killed.pid]);

    const redis = await start();
    expect(serversIn(base)).toEqual([pidOf(redis)]);
    expect(pidOf(redis)).not.toBe(killed.pid);
    expect(await clientOf(redis).get('run')).toBe('accepted');
  });

  test('a Redis of which no process is known, as that of another container, is not doubled', async () => {
    const killed = await startDocket();
    await killed.kill();
    await unlink(join(dataDir, 'redis', 'redis.pid'));
    await expect(start()).rejects.toThrow('Another Redis answers');
    expect(serversIn(base)).toEqual([killed.pid]);
  });
});

describe('a second Docket on the same folder', () => {
  const inUse = () => `Another Docket is running on the data folder ${dataDir}.`;

  test('is refused also while the first is frozen or its Redis is down, but not after it was killed', async () => {
    const first = await startDocket();
    const [docket] = dockets;
    docket?.kill('SIGSTOP');
    process.kill(first.pid, 'SIGKILL');
    await expect(start()).rejects.toThrow(inUse());

    await first.kill();
    await start();
  });
});

test('a Redis that cannot start is reported with its own words, and the folder is free again', async () => {
  const first = await start();
  await clientOf(first).set('run', 'accepted');
  await first.stop();
  const files = join(dataDir, 'redis', 'appendonlydir');
  const manifest = readdirSync(files).find((name) => name.endsWith('.manifest')) ?? '';
  const content = readFileSync(join(files, manifest));
  writeFileSync(join(files, manifest), 'nonsense\n');
  const error = await start().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(OperatorError);
  expect(String(error)).toMatch(/manifest/i);

  writeFileSync(join(files, manifest), content);
  expect(await clientOf(await start()).get('run')).toBe('accepted');
});

test('what was deleted leaves the disk with the next rewrite', async () => {
  const redis = await start({ timing: { rewriteFirstMs: 500, rewriteEveryMs: 300, pingMs: 5000 } });
  const client = clientOf(redis);
  const files = join(dataDir, 'redis', 'appendonlydir');
  const isOnDisk = (text: string) => () =>
    readdirSync(files).some((name) => readFileSync(join(files, name), 'latin1').includes(text));
  await client.rpush('inbox', 'aside: between us');
  expect(isOnDisk('between us')()).toBe(true);
  await client.del('inbox');
  await client.set('kept', 'a word to keep');
  await expect.poll(isOnDisk('between us'), { timeout: 20_000 }).toBe(false);
  // The next one is made as well.
  await client.set('link', 'https://files.example/later');
  await client.del('link');
  await expect.poll(isOnDisk('files.example/later'), { timeout: 20_000 }).toBe(false);
  expect(await client.get('kept')).toBe('a word to keep');
});
