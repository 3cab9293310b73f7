import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

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

export async function startTestRedis(): Promise<TestRedis> {
  const dir = mkdtempSync(join(tmpdir(), 'docket-redis-'));
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
    child = spawn('redis-server', [...options, ...durable], { stdio: 'ignore' });
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

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
