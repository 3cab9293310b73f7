import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { freePort } from '../../demo/ports.ts';
import { findServer } from '../../src/store/embedded-redis.ts';
import { endsWithTests } from './processes.ts';

/** A real Redis of the test's own, to be killed, frozen and filled. */
export interface TestRedis {
  url: string;
  client: Redis;
  /** SIGKILL; what was acknowledged is on disk. */
  kill(): Promise<void>;
  start(): Promise<void>;
  pid(): number | undefined;
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/**
 * Returns the Redis of a test file: it starts before the first of the tests around the call, is empty before each, and
 * is closed after the last. Its parts are there once it has started, so in hooks and tests only.
 */
export function redisForTests(): TestRedis {
  const redis = {} as TestRedis;
  beforeAll(async () => {
    Object.assign(redis, await startTestRedis());
  });
  beforeEach(() => redis.client.flushall());
  afterAll(() => redis.close());
  return redis;
}

/** Starts a Redis that the test closes; `env` is added to its environment, such as a clock of its own. */
export async function startTestRedis(env: NodeJS.ProcessEnv = {}): Promise<TestRedis> {
  const dir = mkdtempSync(join(process.env.TEST_DATA ?? tmpdir(), 'redis-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const client = new Redis({ port, lazyConnect: true, maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});

  async function start() {
    const options = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      dir,
      '--save',
      '',
      '--hz',
      '100',
    ];
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
    child = endsWithTests(
      spawn(findServer(process.env.PATH ?? ''), [...options, ...durable], {
        stdio: 'ignore',
        env: { ...process.env, ...env },
      }),
    );
    await client.ping();
  }

  async function kill() {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    client,
    start,
    kill,
    pid: () => child?.pid,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async close() {
      client.disconnect();
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
